"""Where CF203 shows a number that needs no tensor."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
from reporting import reported


def test_the_line_that_reads_is_shown() -> None:
    found, expected = reported(
        {
            "pkg/convolved.py": """
                class Convolved(nn.Module):
                    def forward(self, x: Tensor):
                        count = torch.tensor(x.shape[:-1]).prod()
                        return x.reshape(int(count), -1)  # BREAK
                    def direct(self, x: Tensor):
                        return x.reshape(int(torch.tensor(x.shape[:-1]).prod()), -1)  # BREAK
            """
        }
    )
    assert found == expected
