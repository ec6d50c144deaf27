"""Hooks of schemathesis for what its settings cannot say; see schemathesis.toml."""

import requests
import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # With `fields` a record has only these, while the schema of the reply is that of the whole record.
    fields = next((one for one in case.operation.query if one.name == "fields"), None)
    sent = case.query.get("fields")
    [value] = sent if isinstance(sent, list) and len(sent) == 1 else [sent]
    if fields is not None and isinstance(value, str) and fields.is_valid(value):
        del case.query["fields"]
    # IPv4 or IPv6, which is no format of OpenAPI.
    if "X-Client-Address" in case.headers:
        case.headers["X-Client-Address"] = "198.51.100.7"
    # For the pattern of this header, which needs quotes, it sends 0 as a valid value.
    if "If-Match" in case.headers and case.meta.generation.mode.is_positive:
        case.headers["If-Match"] = '"1"'


@schemathesis.check
def refuses_wrong_credentials(context, response, case):
    """In place of ignored_auth: what succeeds with credentials is refused without them and with wrong ones."""
    request = response.request
    ways = case.operation.definition.raw.get("security", case.operation.schema.raw_schema["security"])
    sent = request.headers.get("Authorization")
    if response.status_code >= 300 or sent is None or {} in ways or request.method != case.operation.method.upper():
        return
    for wrong in (None, "Bearer app_unknown:unknown", "Bearer usr_unknown:unknown", f"{sent}x"):
        headers = {name: value for name, value in request.headers.items() if name != "Authorization"}
        if wrong is not None:
            headers["Authorization"] = wrong
        status = requests.request(request.method, request.url, data=request.body, headers=headers).status_code
        assert status in (401, 429), f"{status} with other credentials"
