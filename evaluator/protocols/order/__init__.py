"""Reading order: the face of the protocol."""

from evaluator.protocols.order.evaluation import NAME, VERSION, OrderPage, OrderResult, order_page

__all__ = ["NAME", "VERSION", "OrderPage", "OrderResult", "order_page"]
