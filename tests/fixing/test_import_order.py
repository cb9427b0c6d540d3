from __future__ import annotations

import pytest

from compilefix.fixing.rewrite import rewrite

EMIT = "from pkg._late import emit"
PATH = "import sys\n\nsys.path.append('.')  # run as a script\n"
F = "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("before", "statement", "after"),
    [
        ("import os\nimport sys\n\nimport torch\n", "math", "import math\nimport os\nimport sys\n\nimport torch\n"),
        ("import re\nimport torch\n", "math", "import math\nimport re\nimport torch\n"),
        (
            "import re\nfrom typing import Any\n\nimport torch\n",
            "math",
            "import math\nimport re\nfrom typing import Any\n\nimport torch\n",
        ),
        (
            "from __future__ import annotations\n\nimport torch\n",
            "math",
            "from __future__ import annotations\n\nimport torch\nimport math\n",
        ),
        (
            f"{PATH}seen = {{}}\nimport torch\nfrom pkg.z import z\n\nx = 1\n",
            EMIT,
            f"{PATH}seen = {{}}\nimport torch\n{EMIT}\nfrom pkg.z import z\n\nx = 1\n",
        ),
        (
            f"import sys\n\nif '.' not in sys.path:\n    sys.path.insert(0, '.')\n\n\n{F}",
            EMIT,
            f"import sys\n\nif '.' not in sys.path:\n    sys.path.insert(0, '.')\n{EMIT}\n\n\n{F}",
        ),
        (
            f"import torch\n\n\n{F}\nif __name__ == '__main__':\n    import sys\n\n    sys.path.append('.')\n",
            EMIT,
            f"import torch\n{EMIT}\n\n\n{F}\nif __name__ == '__main__':\n    import sys\n\n    sys.path.append('.')\n",
        ),
        (
            "import sys\n\nsys.path.append('.')\nimport torch\n\nx = 1\n",
            "math",
            "import math\nimport sys\n\nsys.path.append('.')\nimport torch\n\nx = 1\n",
        ),
        ("import torch\n\nx = 1\n", EMIT, f"import torch\n{EMIT}\n\nx = 1\n"),
        (
            "import torch\n\nfrom pkg.z import z\nimport zoo\n",
            EMIT,
            f"import torch\n\n{EMIT}\nfrom pkg.z import z\nimport zoo\n",
        ),
        (
            "import torch\n\n# ours\nfrom pkg.z import z\n\nx = 1\n",
            EMIT,
            f"import torch\n\n# ours\nfrom pkg.z import z\n{EMIT}\n\nx = 1\n",
        ),
        (
            "from pkg.z import z\nfrom pkg.a import a\n\nx = 1\n",
            EMIT,
            f"from pkg.z import z\nfrom pkg.a import a\n{EMIT}\n\nx = 1\n",
        ),
        (
            "import torch\n\nfrom .z import (\n    z,\n)\n\nx = 1\n",
            EMIT,
            f"import torch\n\n{EMIT}\n\nfrom .z import (\n    z,\n)\n\nx = 1\n",
        ),
        ("import torch\nfrom .z import z\n", EMIT, f"import torch\n{EMIT}\nfrom .z import z\n"),
        (
            "import torch\n\nfrom .z import z\n",
            "from ._late import emit",
            "import torch\n\nfrom ._late import emit\nfrom .z import z\n",
        ),
        ("import os\n\nx = 1\n", "os", "import os\n\nx = 1\n"),
    ],
)
def test_a_new_import_stands_where_it_belongs(before: str, statement: str, after: str) -> None:
    assert rewrite(before, [], [statement], 100) == after
    assert rewrite(after, [], [statement], 100) == after
