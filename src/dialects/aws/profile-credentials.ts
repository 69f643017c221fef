/** Credentials that a profile leaves to others: a program of the operator's, or the portal where a person has signed in. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CredentialError } from '@/dialects/credentials/authorizer'
import { ask } from '@/dialects/credentials/request-token'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'
import type { SignOn } from './profile-file'

const TIMEOUT_MS = 60_000
const MAX_OUTPUT_CHARS = 65_536

/** What somebody else has given out: not looked at yet. `atMs`: when, by their clock. */
type Given = { status: number; atMs: number; fields: unknown[] }

/** What `command` prints. Of what it says of a failure nothing goes any further. */
export async function printedCredentials(command: string): Promise<Given> {
  const printed = await new Promise<string>((resolve, reject) => {
    execFile('/bin/sh', ['-c', command], { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_CHARS }, (error, stdout) =>
      error ? reject(new CredentialError('the credential process has failed')) : resolve(stdout),
    )
  })
  const answer = objectIn(printed)
  return {
    ...{ status: 0, atMs: Date.now() },
    fields: [answer.AccessKeyId, answer.SecretAccessKey, answer.SessionToken, answer.Expiration],
  }
}

/** Those of the role, for the token that `aws sso login` has left beside `configFile`. */
export async function portalCredentials(person: SignOn, configFile: string, endpoint?: string): Promise<Given> {
  const { session, region, accountId, roleName } = person
  const name = `${createHash('sha1').update(session).digest('hex')}.json`
  const cached = objectIn(await readFile(join(dirname(configFile), 'sso', 'cache', name), 'utf8').catch(() => ''))
  const token = textOf(cached.accessToken) ?? ''
  if (token === '' || !(Date.parse(String(cached.expiresAt)) > Date.now())) {
    throw new CredentialError(`nobody is signed in for ${session}: run aws sso login`)
  }
  const query = new URLSearchParams({ account_id: accountId, role_name: roleName })
  const url = `${endpoint ?? `https://portal.sso.${region}.amazonaws.com`}/federation/credentials?${query}`
  const headers = { 'x-amz-sso_bearer_token': token }
  const { status, text, atMs } = await ask('the sign-on portal', url, { headers })
  const answer = objectIn(status === 200 ? text : '')
  const role = isJsonObject(answer.roleCredentials) ? answer.roleCredentials : {}
  const until = typeof role.expiration === 'number' ? new Date(role.expiration).toISOString() : undefined
  return { status, atMs, fields: [role.accessKeyId, role.secretAccessKey, role.sessionToken, until] }
}

function objectIn(text: string): JsonObject {
  const json = parseJson(text)
  return isJsonObject(json) ? json : {}
}
