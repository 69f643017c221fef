/** Vertex AI: a model is a resource of a project at a location, which determines the host. An express key needs neither. */
import type { FormatName } from '@/chat/format-name'
import type { ProviderError } from '@/chat/provider-error'
import { betaNamesOf } from '@/dialects/betas'
import type { DialectKind, DialectSettings } from '@/dialects/dialect'
import type { EndpointCall } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonValue } from '@/lib/json'

const DEFAULT_VERSION = 'v1'
/** Multi-region locations, which have hosts in another domain. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(['us', 'eu'])
const GLOBAL = 'global'

export const vertex: DialectKind = {
  formats: ['generate-content'],
  needsVersion: false,
  // An express key already belongs to a project, so neither is required.
  needs: ({ project, location, keys }) =>
    keys && project === undefined && location === undefined ? undefined : missingPlace({ project, location }),
  baseUrl: vertexHost,
  create(_, { embeddingsUrl: __, ...endpoint }, settings) {
    return {
      ...endpoint,
      name: 'vertex',
      // Vertex AI expects the tier in a header.
      hasServiceTiers: false,
      url: (call) =>
        vertexUrl(call, settings, 'google', call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
    }
  },
}

type Place = { project?: string | undefined; location?: string | undefined }

function missingPlace({ project, location }: Place): 'project' | 'location' | undefined {
  if (project === undefined) return 'project'
  return location === undefined ? 'location' : undefined
}

function vertexHost({ location = GLOBAL }: Place): string {
  return `https://${hostOf(location)}`
}

function vertexUrl(call: EndpointCall, settings: DialectSettings, publisher: string, verb: string): string {
  const { baseUrl, apiVersion = DEFAULT_VERSION } = call
  return `${baseUrl}/${apiVersion}/${resourceOf(call, settings, publisher)}:${verb}`
}

function hostOf(location: string): string {
  if (location === GLOBAL) return 'aiplatform.googleapis.com'
  return MULTI_REGIONS.has(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`
}

/** The resource of a model name: `gemini-…` (Google's), `publisher/model`, `endpoints/ID` (a tuned model), or a full `projects/…`. */
function resourceOf({ model }: EndpointCall, { project, location = GLOBAL }: DialectSettings, usual: string): string {
  const segments = model.split('/').map(encodeSegment)
  if (segments[0] === 'projects') return segments.join('/')
  const place = project === undefined ? '' : `projects/${encodeURIComponent(project)}/locations/${location}/`
  if (segments[0] === 'endpoints' || segments[0] === 'publishers') return place + segments.join('/')
  const [first = '', ...rest] = segments
  const [publisher, name] = rest.length === 0 ? [usual, first] : [first, rest.join('/')]
  return `${place}publishers/${publisher}/models/${name}`
}

/** A model version follows an `@`, which vendors' libraries don't escape. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%40', '@')
}

/** Claude on Vertex AI: messages with the model in the URL and the version in the body. */
const VERSION_HEADER = 'anthropic-version'
const VERSION = 'vertex-2023-10-16'

export const vertexRaw: DialectKind = {
  formats: ['messages'],
  needsVersion: false,
  needs: missingPlace,
  baseUrl: vertexHost,
  create(_, endpoint, settings) {
    return {
      ...endpoint,
      name: 'vertex-raw',
      versions: { pattern: /^v[0-9][a-z0-9]*$/, example: 'v1' },
      headers: {},
      url: (call) => vertexUrl(call, settings, 'anthropic', call.stream ? 'streamRawPredict' : 'rawPredict'),
      takenBeta: betaNamesOf('vertex'),
      envelope({ model, ...body }) {
        return { body: { anthropic_version: VERSION, ...body }, leftOut: [] }
      },
      protocolHeaders({ [VERSION_HEADER]: version, ...headers }) {
        return headers
      },
      decodeError: (status, _, body) => decodeError(status, body),
    }
  },
}

/** Errors of the model have its vendor's form; errors of the cloud have Google's, with a status and no type. */
function decodeError(status: number, body: JsonValue | undefined): ProviderError {
  const outer = Array.isArray(body) ? body[0] : body
  const error = isJsonObject(outer) && isJsonObject(outer.error) ? outer.error : {}
  const isGoogles = typeof error.status === 'string' && error.type === undefined
  const speaker: FormatName = isGoogles ? 'generate-content' : 'messages'
  const format = FORMATS.get(speaker)
  assert(format, `no codec for ${speaker}`)
  return format.decodeError(status, body)
}
