/** Failed requests, as a list and individually: for the account and for administrators. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import { PAGE, wholeNumber } from '@/console/http/pages'
import { listOf, NullableText } from '@/console/http/wire'
import type { FailureSearch, FoundFailure } from '@/console/usage-views/failures/failure-search'
import type { Sight } from '@/console/usage-views/usage-filter'
import type { UsageViews } from '@/console/usage-views/usage-views'
import { titled } from '@/http/openapi/titled'
import { orNull } from '@/lib/schemas'

const word = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$', maxLength: 200, description }))

export const FailureBody = titled('FailedRequest', {
  requestId: Type.String(),
  at: Type.String({ description: 'ISO 8601 in UTC' }),
  keyId: Type.String(),
  keyName: NullableText,
  format: Type.String({ description: 'The format of the request’s path' }),
  model: orNull(Type.String(), {
    description: 'The requested model; null if it is unknown, or the body was not read',
  }),
  status: Type.Integer({
    description: 'The HTTP status that the client got, or would have got before its stream began',
  }),
  code: Type.String({ description: 'A word for programs, e.g. `rate_limit_exceeded`' }),
  param: orNull(Type.String(), { description: 'The field at fault' }),
  words: Type.String({ description: 'The reason, without content of the request or the provider' }),
  providerRequestId: orNull(Type.String(), { description: 'The provider’s id of the request' }),
})

export const FailurePage = titled('FailedRequests', {
  ...listOf(FailureBody).properties,
  sums: Type.Array(
    Type.Object({
      status: Type.Integer(),
      code: Type.String(),
      requests: Type.Integer(),
      kept: Type.Integer({ description: 'How many of them are listed' }),
    }),
    { description: 'Number of requests of each kind under this filter, the largest first' },
  ),
})

export const FailureQuery = Type.Object({
  key: word('Id of the API key'),
  status: Type.Optional(wholeNumber('status', { minimum: 400, maximum: 599 })),
  code: word('`code` of an item'),
  ...PAGE,
})

export const FAILURES_DESCRIPTION =
  'Of the last 30 days, newest first. At most 10,000 of a day are listed; `sums` counts them all. A request ' +
  'without a valid key (401) is in nobody’s list, and one whose client hung up did not fail.'

/** One page of failed requests, and the counts of all that match. `sight` limits them to those that the reader may see. */
export async function readFailurePage(
  usage: Pick<UsageViews, 'failures' | 'failureSums'>,
  sight: Sight,
  query: Static<typeof FailureQuery>,
): Promise<Static<typeof FailurePage>> {
  const { key, ...rest } = query
  const search: FailureSearch = { ...sight, ...rest, ...(key !== undefined && { keyId: key }) }
  const [{ items, nextCursor }, sums] = await Promise.all([usage.failures(search), usage.failureSums(search)])
  return { items: items.map(failureBody), nextCursor, sums }
}

function failureBody({ atMs, ...failure }: FoundFailure): Static<typeof FailureBody> {
  return { ...failure, at: new Date(atMs).toISOString() }
}

/** One failed request. Throws 404 for an unknown one. */
export async function readFailure(
  usage: Pick<UsageViews, 'failure'>,
  sight: Sight,
  requestId: string,
): Promise<Static<typeof FailureBody>> {
  const found = await usage.failure(sight, requestId)
  if (!found) throw new GatewayError('not_found', 'Your account has no failed request with this id.')
  return failureBody(found)
}
