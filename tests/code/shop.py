"""A small shop project and its commits, for ranking queries."""

from afresh.code.index.code_index import CodeIndex, build_code_index
from afresh.core.commit import CommitFiles, CommitHistory
from support.fakes import DictFiles

SHOP = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": '"""Carts."""\nfrom shop.money import rate\nfrom shop.base import Base\n\n\nclass Cart(Base):\n'
    '    """Holds items."""\n\n    def total(self, tax: int = 1) -> int:\n        return rate(self.items)\n\n'
    "    def clear(self) -> None:\n        self.items = []\n",
    "shop/money.py": '"""Amounts."""\nfrom shop.base import Base\n\n\ndef rate(items): ...\n\n\n'
    "def parse_amount(text: str) -> int: ...\n",
    "shop/base.py": "class Base: ...\n",
    "shop/mail.py": "def send_receipt(address): ...\n\n\ndef unsubscribe(address): ...\n",
    "shop/report.py": "def weekly(): ...\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total(): ...\n",
    "tests/test_mail.py": "from shop.mail import send_receipt\n",
}
PAST = CommitHistory(
    "abc",
    (
        CommitFiles("Letters went out twice", ("shop/mail.py", "tests/test_mail.py"), 3.0),
        CommitFiles("Figures of the week in order", ("shop/report.py", "docs/report.md"), 2.0),
        CommitFiles("Round to cents\n\nTaxes too", ("shop/money.py", "shop/cart.py"), 1.0),
        CommitFiles("New layout", tuple(f"a/{number}.py" for number in range(40)), 0.0),
    ),
)


def shop(**more: str) -> CodeIndex:
    files = DictFiles()
    files.texts = {**SHOP, **{name.replace("__", "/") + ".py": text for name, text in more.items()}}
    return build_code_index(files)
