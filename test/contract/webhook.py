"""Verifies deliveries with the library of Standard Webhooks. The file named by the first argument holds them."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

with open(sys.argv[1], encoding="utf-8") as file:
    deliveries = json.load(file)
for delivery in deliveries:
    for secret in delivery["secrets"]:
        assert Webhook(secret).verify(delivery["body"], delivery["headers"]) == json.loads(delivery["body"])
    try:
        Webhook(delivery["secrets"][0]).verify(delivery["body"] + " ", delivery["headers"])
        raise AssertionError("a changed body is verified")
    except WebhookVerificationError:
        pass
