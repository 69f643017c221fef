import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

type Environment = Record<string, string | undefined>

const SOURCES = ['accessKeyId', 'profile', 'roleArn', 'container', 'instance']

/** Adds credentials to each aws `auth` without any. They refer to AWS' own variables, as an operator would write them. */
export function withAwsCredentials(file: JsonValue, environment: Environment): JsonValue {
  if (!isJsonObject(file) || !isJsonObject(file.providers)) return file
  const providers = Object.entries(file.providers).map(([name, entry]) => {
    const auth = isJsonObject(entry) ? entry.auth : undefined
    if (!isJsonObject(entry) || !isJsonObject(auth) || auth.type !== 'aws') return [name, entry]
    if (SOURCES.some((source) => auth[source] !== undefined)) return [name, entry]
    return [name, { ...entry, auth: { ...auth, ...sourceIn(environment) } }]
  })
  return { ...file, providers: Object.fromEntries(providers) }
}

/** The first source that is set, in the order of AWS' tools: access keys (if no profile is named), profile, role, container, machine. */
function sourceIn(environment: Environment): JsonObject {
  const isSet = (name: string) => Boolean(environment[name] ?? environment[`${name}_FILE`])
  const given = (property: string, name: string) => (isSet(name) ? { [property]: `\${${name}}` } : {})
  if (isSet('AWS_ACCESS_KEY_ID') && !isSet('AWS_PROFILE')) {
    return {
      ...{ accessKeyId: variable('AWS_ACCESS_KEY_ID'), secretAccessKey: variable('AWS_SECRET_ACCESS_KEY') },
      ...given('sessionToken', 'AWS_SESSION_TOKEN'),
    }
  }
  if (isSet('AWS_PROFILE')) {
    const home = `${variable('HOME')}/.aws/credentials`
    const credentialsFile = isSet('AWS_SHARED_CREDENTIALS_FILE') ? variable('AWS_SHARED_CREDENTIALS_FILE') : home
    const config = isSet('AWS_CONFIG_FILE') ? variable('AWS_CONFIG_FILE') : `${variable('HOME')}/.aws/config`
    const isKnown = isSet('AWS_CONFIG_FILE') || isSet('HOME')
    return { profile: variable('AWS_PROFILE'), credentialsFile, ...(isKnown && { configFile: config }) }
  }
  if (isSet('AWS_ROLE_ARN') && environment.AWS_WEB_IDENTITY_TOKEN_FILE) {
    return { roleArn: variable('AWS_ROLE_ARN'), webIdentityTokenFile: environment.AWS_WEB_IDENTITY_TOKEN_FILE }
  }
  for (const name of ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', 'AWS_CONTAINER_CREDENTIALS_FULL_URI']) {
    if (!isSet(name)) continue
    const file = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE
    return {
      container: variable(name),
      ...(file ? { containerTokenFile: file } : given('containerToken', 'AWS_CONTAINER_AUTHORIZATION_TOKEN')),
    }
  }
  return { instance: true, ...given('instanceEndpoint', 'AWS_EC2_METADATA_SERVICE_ENDPOINT') }
}

function variable(name: string): string {
  return `\${${name}}`
}
