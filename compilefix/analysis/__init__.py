"""What is known of the code: values, shapes and effects, what is compiled, and what a rewrite may change."""
