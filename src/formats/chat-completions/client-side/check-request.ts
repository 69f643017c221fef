/** The schema that a chat-completions body is checked against. */
import { LIMITS } from '@/formats/chat-completions/limits'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { chatCompletionsRequest, type WireRequest } from './wire'

/** Returns a body as a request. Throws a GatewayError `invalid_request` that names the first field at fault. */
export type RequestCheck = (body: JsonObject) => WireRequest

/** The check with the limits that hold unless the operator raises one. */
export const checkRequest: RequestCheck = createRequestCheck(chatCompletionsRequest(LIMITS.messages.maxItems))
