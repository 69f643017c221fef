/** The schemas that normalised generate-content bodies are checked against. */
import { createRequestCheck } from '@/formats/schema-check'
import { CountTokensRequest, GenerateContentRequest } from './wire'

/** Returns the body as a request. Throws a GatewayError `invalid_request` that names the first field at fault. */
export const checkRequest = createRequestCheck(GenerateContentRequest)

/** The same for the body of `:countTokens`. */
export const checkCountTokens = createRequestCheck(CountTokensRequest)
