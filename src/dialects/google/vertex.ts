/** Vertex AI: a model is a resource of a project at a location, which also decides the host; with an express key neither is named. */
import type { DialectKind, DialectSettings } from '@/dialects/dialect'
import type { EndpointCall } from '@/formats/format'

const DEFAULT_VERSION = 'v1'
/** Locations of several regions, whose host is another domain. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(['us', 'eu'])
const GLOBAL = 'global'

export const vertex: DialectKind = {
  formats: ['generate-content'],
  needsVersion: false,
  // An express key says whose project it is.
  needs: ({ project, location, keys }) =>
    keys && project === undefined && location === undefined ? undefined : missingPlace({ project, location }),
  baseUrl: vertexHost,
  create(_, { embeddingsUrl: __, ...endpoint }, settings) {
    return {
      ...endpoint,
      name: 'vertex',
      url: (call) =>
        vertexUrl(call, settings, 'google', call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
    }
  },
}

type Place = { project?: string | undefined; location?: string | undefined }

/** Which of both is not said. */
export function missingPlace({ project, location }: Place): 'project' | 'location' | undefined {
  if (project === undefined) return 'project'
  return location === undefined ? 'location' : undefined
}

/** The address of the service at a location. */
export function vertexHost({ location = GLOBAL }: Place): string {
  return `https://${hostOf(location)}`
}

/** The address of `verb` at a model, which is `publisher`'s where its name says no other. */
export function vertexUrl(call: EndpointCall, settings: DialectSettings, publisher: string, verb: string): string {
  const { baseUrl, apiVersion = DEFAULT_VERSION } = call
  return `${baseUrl}/${apiVersion}/${resourceOf(call, settings, publisher)}:${verb}`
}

function hostOf(location: string): string {
  if (location === GLOBAL) return 'aiplatform.googleapis.com'
  return MULTI_REGIONS.has(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`
}

/** `gemini-…` is Google's, `publisher/model` another's, `endpoints/ID` a tuned model, `projects/…` a resource with its whole name. */
function resourceOf({ model }: EndpointCall, { project, location = GLOBAL }: DialectSettings, usual: string): string {
  const segments = model.split('/').map(encodeSegment)
  if (segments[0] === 'projects') return segments.join('/')
  const place = project === undefined ? '' : `projects/${encodeURIComponent(project)}/locations/${location}/`
  if (segments[0] === 'endpoints' || segments[0] === 'publishers') return place + segments.join('/')
  const [first = '', ...rest] = segments
  const [publisher, name] = rest.length === 0 ? [usual, first] : [first, rest.join('/')]
  return `${place}publishers/${publisher}/models/${name}`
}

/** Versions of models stand behind an `@`, which vendors' libraries leave as it is. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%40', '@')
}
