"""CF1xx: control flow that depends on a tensor."""
