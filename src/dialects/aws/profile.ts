/** AWS profiles: their settings, and credentials from a program or the SSO portal. */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CredentialError } from '@/dialects/credentials/authorizer'
import { ask } from '@/dialects/credentials/request-token'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'
import type { AwsCredentials } from './signature'

export type ProfileSource =
  | AwsCredentials
  | { roleArn: string; webIdentityTokenFile: string }
  | { instance: true }
  /** A program that prints the credentials. */
  | { command: string }
  | SignOn
  /** A role to assume with the credentials of `from`. */
  | { from: ProfileSource; assumeRoleArn: string; externalId?: string }

/** A role of a person signed in by SSO; `session` determines the name of the token's file. */
type SignOn = { session: string; region: string; accountId: string; roleName: string }

type Section = ReadonlyMap<string, string>

/** The source of `profile`. Throws a CredentialError if the profile is missing or has no known source. */
export function profileSource(credentialsFile: string, configFile: string, profile: string): ProfileSource {
  const sections = readSections([...linesOf(configFile), ...linesOf(credentialsFile)])
  return sourceOf(sections, profile, [])
}

function sourceOf(sections: ReadonlyMap<string, Section>, profile: string, before: readonly string[]): ProfileSource {
  const settings = sections.get(profile) ?? new Map()
  const { role_arn: assumeRoleArn, external_id: externalId, ...own } = Object.fromEntries<string | undefined>(settings)
  const keys = keysIn(settings)
  // A profile that another profile uses as its source gives its own keys. Otherwise its role is preferred.
  if (keys && (!assumeRoleArn || before.length > 0)) return keys
  if (before.includes(profile)) throw new CredentialError(`profile ${profile} is its own source`)
  const from = own.source_profile
    ? sourceOf(sections, own.source_profile, [...before, profile])
    : own.credential_source === 'Ec2InstanceMetadata' && ({ instance: true } as const)
  if (assumeRoleArn && from) return { from, assumeRoleArn, ...(externalId && { externalId }) }
  const { web_identity_token_file: webIdentityTokenFile, credential_process: command } = own
  if (assumeRoleArn && webIdentityTokenFile) return { roleArn: assumeRoleArn, webIdentityTokenFile }
  if (command) return { command }
  const person = signOnIn(sections, own)
  if (person) return person
  throw new CredentialError(`the profile files have no credentials of profile ${profile} that can be had`)
}

function keysIn(settings: Section): AwsCredentials | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    ...['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map((name) => settings.get(name)),
  ]
  if (!accessKeyId || !secretAccessKey) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

/** The SSO session, from the section that the profile names or from the profile itself. */
function signOnIn(sections: ReadonlyMap<string, Section>, own: Record<string, string | undefined>): SignOn | undefined {
  const { sso_session: named, sso_account_id: accountId, sso_role_name: roleName } = own
  const section = named ? sections.get(`sso-session ${named}`) : undefined
  const session = named ?? own.sso_start_url
  const region = section?.get('sso_region') ?? own.sso_region
  return session && region && accountId && roleName ? { session, region, accountId, roleName } : undefined
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/)
}

/** Settings of both files by section; the credentials file, which comes last, has priority. */
function readSections(lines: readonly string[]): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>()
  let current: Map<string, string> | undefined
  for (const line of lines) {
    const section = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]/.exec(line)?.[1]
    if (section !== undefined) {
      current = sections.get(section) ?? new Map()
      sections.set(section, current)
    }
    const setting = /^([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line)
    if (setting?.[1]) current?.set(setting[1].toLowerCase(), setting[2] ?? '')
  }
  return sections
}

const TIMEOUT_MS = 60_000
const MAX_OUTPUT_CHARS = 65_536

/** Unchecked credentials from a program or the SSO portal. `atMs`: the time by the source's clock. */
type Given = { status: number; atMs: number; fields: unknown[] }

/** The environment of credential programs, without the gateway's own variables, which are secret. */
const PROGRAM_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
}

/** Credentials printed by `command`. Its error output is dropped. */
export async function printedCredentials(command: string): Promise<Given> {
  const printed = await new Promise<string>((resolve, reject) => {
    const options = {
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_CHARS,
      env: { ...PROGRAM_ENVIRONMENT, HOME: homedir() },
    }
    execFile('/bin/sh', ['-c', command], options, (error, stdout) =>
      error ? reject(new CredentialError('the credential process has failed')) : resolve(stdout),
    )
  })
  const answer = objectIn(printed)
  return {
    ...{ status: 0, atMs: Date.now() },
    fields: [answer.AccessKeyId, answer.SecretAccessKey, answer.SessionToken, answer.Expiration],
  }
}

/** The role's credentials, using the token that `aws sso login` stored beside `configFile`. */
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
