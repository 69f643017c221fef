/** Reads how to call a provider of the catalogue file: by its format's own endpoint, or by its entry's dialect and `auth`. */
import type { FaultList } from '@/catalog/check'
import type { ProviderFile } from '@/catalog/schema'
import type { FormatName } from '@/chat/format-name'
import { DIALECT_NAMES, type Dialect } from '@/dialects/dialect'
import { awsAuth, DIALECTS, entra, googleAuth } from '@/dialects/index'
import type { Endpoint } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import type { AuthFile } from './auth-schema'

/** The format's own endpoint, as its vendor publishes it: the default dialect. */
export function plainEndpoint(name: FormatName): Endpoint {
  const format = FORMATS.get(name)
  assert(format, `no codec for ${name}`)
  return format.endpoint
}

/** The provider's real format, which the dialect may set in place of the entry's. */
export function spokenFormat({ format, dialect }: ProviderFile): FormatName {
  return (dialect && DIALECTS[dialect].spoken) ?? format
}

/** The entry's dialect. Adds a fault for each invalid property, and a warning for unusable credentials. */
export function readDialect(file: ProviderFile, place: string, faults: FaultList): Dialect {
  const dialect = readNamed(file, place, faults)
  checkVersion(file, dialect, place, faults)
  if (!file.auth) return dialect
  const own = authorized(file.auth, file.baseUrl ?? '')
  if (own) return { ...dialect, credential: undefined, ...own }
  faults.warn(
    `${place}.auth.credentials`,
    'is neither the key of a service account nor a configuration of workload identity federation',
  )
  return dialect
}

function readNamed(file: ProviderFile, place: string, faults: FaultList): Dialect {
  const { format, dialect: name } = file
  checkPlace(file, place, faults)
  const plain = plainEndpoint(spokenFormat(file))
  if (name === undefined) return plain
  const kind = DIALECTS[name]
  if (kind.formats.includes(format)) {
    const missing = kind.needs?.(file)
    if (missing)
      faults.add(`${place}.${missing}`, `is missing; a provider of dialect ${name} has a project and a location`)
    return kind.create(spokenFormat(file), plain, file)
  }
  faults.add(`${place}.dialect`, `${name} is no dialect of ${format}; expected format ${kind.formats.join(' or ')}`)
  return plain
}

/** The default address for an entry without one; undefined if the entry must name it. */
export function defaultBaseUrl(file: ProviderFile): string | undefined {
  return file.dialect && DIALECTS[file.dialect].baseUrl?.(file)
}

/** Reports a fault for a project or location without a dialect that uses it. */
function checkPlace({ dialect, ...file }: ProviderFile, place: string, faults: FaultList): void {
  for (const property of ['project', 'location'] as const) {
    if (file[property] === undefined || (dialect && DIALECTS[dialect].needs)) continue
    faults.add(`${place}.${property}`, `only a provider of dialect ${PLACED} has one`)
  }
}

const PLACED = DIALECT_NAMES.filter((name) => DIALECTS[name].needs).join(' or ')

function checkVersion(file: ProviderFile, { versions }: Dialect, place: string, faults: FaultList): void {
  const { apiVersion, dialect } = file
  const at = `${place}.apiVersion`
  if (faults.has(`${place}.dialect`)) return
  if (apiVersion === undefined) {
    if (dialect && versions && DIALECTS[dialect].needsVersion) {
      faults.add(at, `is missing; expected a version such as ${versions.example}`)
    }
  } else if (!versions) faults.add(at, `only a provider of ${VERSIONED} has a version in its paths`)
  else if (!versions.pattern.test(apiVersion)) faults.add(at, `expected a version such as ${versions.example}`)
}

const VERSIONED = [
  `format ${[...FORMATS.values()].flatMap(({ name, endpoint }) => (endpoint.versions ? [name] : [])).join(' or ')}`,
  `dialect ${DIALECT_NAMES.filter((name) => DIALECTS[name].needsVersion).join(' or ')}`,
].join(' or ')

/** Whether calls are authorized without keys. */
export function isKeyless(auth: AuthFile): boolean {
  return auth.type !== 'bearer' && auth.type !== 'header'
}

/** Whether no variable in `auth` was missing. Otherwise the provider is not offered, as if its key were unset. */
export function isComplete(auth: AuthFile): boolean {
  return !Object.values(auth).includes('')
}

/** The part of a dialect that an entry's `auth` decides; undefined if its credentials are unusable. */
function authorized(
  auth: AuthFile,
  baseUrl: string,
): Pick<Dialect, 'credential' | 'authorizer' | 'secrets'> | undefined {
  switch (auth.type) {
    case 'none':
      return {}
    case 'bearer':
      return { credential: { header: 'authorization', prefix: 'Bearer ' } }
    case 'header':
      return { credential: { header: auth.name.toLowerCase(), prefix: '' } }
    case 'google': {
      // A missing variable is no fault: the provider is not offered.
      if (!isComplete(auth)) return {}
      const authorizer = googleAuth(auth)
      return authorizer && { authorizer, secrets: 'credentials' in auth ? [auth.credentials] : [] }
    }
    case 'aws': {
      const { type: _, service, bearer, ...identity } = auth
      const secrets = [
        ...('secretAccessKey' in identity ? [identity.secretAccessKey, identity.sessionToken ?? ''] : []),
        ...('container' in identity ? [identity.containerToken ?? ''] : []),
      ]
      return {
        authorizer: awsAuth(identity, baseUrl, { service, bearer }),
        secrets: secrets.filter((secret) => secret !== ''),
      }
    }
    case 'entra': {
      const { type: _, ...identity } = auth
      const secrets = [
        'clientSecret' in identity ? identity.clientSecret : '',
        'identitySecret' in identity ? (identity.identitySecret ?? '') : '',
      ]
      return { authorizer: entra(identity, baseUrl), secrets: secrets.filter((secret) => secret !== '') }
    }
  }
}
