/** Versions of data that several people may change. A change names the version that it began with, and never overwrites a newer one. */
import { Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import { sha256Hex } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'

const VERSION_CHARS = 16

/** The header that names the version with which a change began. */
export const IF_MATCH = {
  'if-match': Type.Optional(
    Type.String({
      maxLength: 200,
      description: '`ETag` of the answer that the change began with: a newer version is not overwritten (412)',
    }),
  ),
}

/** An ETag for these fields, independent of their order. */
export function versionOf(fields: object): string {
  const sorted = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `"${sha256Hex(JSON.stringify(sorted)).slice(0, VERSION_CHARS)}"`
}

/** The error if the present values differ from those with which the change of `request` began. */
class NewerVersion extends GatewayError {
  constructor(headers?: { etag: string }, current?: JsonObject) {
    super('precondition_failed', 'Somebody else saved a change meanwhile.', {
      code: 'changed_meanwhile',
      ...(headers && { headers }),
      ...(current && { details: { current } }),
    })
  }
}

/** Call it before the change, with the fields as read under its lock. Throws `precondition_failed` if `If-Match` names another version. */
export function expectVersion(request: Request, fields: object): void {
  const named = request.headers.get('if-match')
  if (named === null || named.trim() === '*') return
  if (!named.split(',').some((one) => one.trim() === versionOf(fields))) throw new NewerVersion()
}

/** Runs a change. If a newer version exists, the error contains the present result of `read`, and its version. */
export async function withCurrent<Result>(
  change: () => Promise<Result>,
  read: () => Promise<{ current: object; etag: string }>,
): Promise<Result> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof NewerVersion)) throw error
    const { current, etag } = await read()
    throw new NewerVersion({ etag }, current as JsonObject)
  }
}
