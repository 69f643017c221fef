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
  needs({ project, location }) {
    if ((project === undefined) === (location === undefined)) return undefined
    return project === undefined ? 'project' : 'location'
  },
  baseUrl: ({ location = GLOBAL }) => `https://${hostOf(location)}`,
  create(_, { embeddingsUrl: __, ...endpoint }, settings) {
    return {
      ...endpoint,
      name: 'vertex',
      url(call) {
        const { baseUrl, apiVersion = DEFAULT_VERSION, stream } = call
        const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
        return `${baseUrl}/${apiVersion}/${resourceOf(call, settings)}:${verb}`
      },
    }
  },
}

function hostOf(location: string): string {
  if (location === GLOBAL) return 'aiplatform.googleapis.com'
  return MULTI_REGIONS.has(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`
}

/** `gemini-…` is Google's, `publisher/model` another's, `endpoints/ID` a tuned model, `projects/…` a resource with its whole name. */
function resourceOf({ model }: EndpointCall, { project, location = GLOBAL }: DialectSettings): string {
  const segments = model.split('/').map(encodeURIComponent)
  if (segments[0] === 'projects') return segments.join('/')
  const place = project === undefined ? '' : `projects/${encodeURIComponent(project)}/locations/${location}/`
  if (segments[0] === 'endpoints' || segments[0] === 'publishers') return place + segments.join('/')
  const [first = '', ...rest] = segments
  const [publisher, name] = rest.length === 0 ? ['google', first] : [first, rest.join('/')]
  return `${place}publishers/${publisher}/models/${name}`
}
