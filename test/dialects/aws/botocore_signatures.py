"""Signs the calls that come as JSON on the standard input as AWS' own library does, and prints the signed headers of each."""

import datetime
import json
import sys

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def sign(call):
    moment = datetime.datetime.fromtimestamp(call["atMs"] / 1000, datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda *_: moment.replace(tzinfo=None)
    credentials = Credentials(call["accessKeyId"], call["secretAccessKey"], call.get("sessionToken"))
    request = AWSRequest("POST", call["url"], data=call["body"].encode())
    botocore.auth.SigV4Auth(credentials, call["service"], call["region"]).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def presign(call):
    moment = datetime.datetime.fromtimestamp(call["atMs"] / 1000, datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda *_: moment.replace(tzinfo=None)
    credentials = Credentials(call["accessKeyId"], call["secretAccessKey"], call.get("sessionToken"))
    request = AWSRequest("POST", "https://bedrock.amazonaws.com/", params={"Action": "CallWithBearerToken"})
    botocore.auth.SigV4QueryAuth(credentials, "bedrock", call["region"], expires=43200).add_auth(request)
    return request.prepare().url


CALLS = json.load(sys.stdin)
json.dump({"signed": [sign(call) for call in CALLS], "presigned": [presign(call) for call in CALLS]}, sys.stdout)
