import { Elysia } from 'elysia'
import type { Format } from '@/formats/format'
import { refineDocument } from './refine'
import { addSamples } from './samples'
import { securitySchemes } from './security'
import { type DocumentedRoute, describedPaths } from './wildcards'

/** Tags of routes used only by the dashboard's pages. */
const INTERNAL = ['Dashboard', 'Administration']

const TAGS = [
  { name: 'Inference', description: 'Ask a model, in the words of any of the formats' },
  { name: 'Models', description: 'Models and their prices' },
  { name: 'Batches', description: 'Requests that run in the background, and their files' },
  { name: 'Stored responses', description: 'Stored answers that requests can continue' },
  { name: 'Usage', description: 'What was spent, and how good it was' },
  {
    name: 'Management',
    description: 'Keys, members, budgets and orders of an account, for programs with a management key',
  },
  {
    name: 'Operator',
    description:
      'Accounts, credit, keys and orders of all customers, for programs with an operator key, such as a shop',
  },
  { name: 'Operations', description: 'For operators of the service' },
  { name: 'Webhooks', description: 'For payment providers' },
  { name: 'Dashboard', description: 'What the pages of the dashboard call; changes without notice' },
  { name: 'Administration', description: 'What the pages of administrators call; changes without notice' },
]

const INTRODUCTION = `One API key for every model, in four compatible formats, paid from prepaid credit. The [guide](/docs/guide) has examples \
for each client library.

**Authentication.** Send your API key as \`Authorization: Bearer svc-…\`. The headers and the query parameter of the other formats \
(\`x-api-key\`, \`x-goog-api-key\`, \`?key=\`) work on every endpoint as well. *Management* takes a management key (\`svc-mgmt-…\`), *Operator* an operator key (\`svc-op-…\`). You make keys in \
the [dashboard](/dashboard). To try an endpoint here, press *Authorize* first. It is then a real request and is charged.

**Errors** have the shape of the endpoint's own format, and a code and words that say what to do: see [errors](/docs/guide/errors). Each answer \
has an \`x-request-id\`; name it when you ask for help.

**Limits.** Requests and tokens per minute and requests at once are limited per key and account. A 429 has \`retry-after\`, and the \
\`x-ratelimit-*\` headers say what remains: see [limits and headers](/docs/guide/limits-and-headers).

**Versions.** The paths have the versions of their formats (\`/v1\`, \`/v1beta\`). Fields may be added at any time; none is removed or changes its \
meaning within a version.`

type DocumentOptions = {
  routes(): DocumentedRoute[]
  /** Whether to include routes used only by the dashboard's pages. */
  isInternal?: boolean
  /** The service's name, in the document's title. */
  name: string
  version: string
  /** The service's address; undefined: the one that the document was requested from. */
  publicUrl: string | undefined
  errorFormat: Format
  sessionCookie: string
}

/** The OpenAPI document, generated from the routes by the swagger plugin, which is loaded only now to keep the start fast. */
export async function openApiDocument({ errorFormat, ...options }: DocumentOptions): Promise<object> {
  const { swagger } = await import('@elysiajs/swagger')
  const all = options.routes()
  const routes = () => (options.isInternal ? all : all.filter((route) => !isInternalRoute(route)))
  const documentation = { ...describeProduct(options), paths: describedPaths(all) }
  const generator = new Elysia()
  // The plugin looks for routes here. The application itself is already serving and accepts no more plugins.
  Object.defineProperty(generator, 'getGlobalRoutes', { value: routes })
  generator.use(swagger({ specPath: GENERATED, documentation, excludeStaticFile: false }))
  const generated = await generator.handle(new Request(`http://localhost${GENERATED}`))
  const document = await generated.json()
  addSamples(document.paths, options.publicUrl)
  return refineDocument(document, errorFormat)
}

function isInternalRoute({ hooks }: DocumentedRoute): boolean {
  return INTERNAL.some((tag) => hooks.detail?.tags?.includes(tag))
}

const GENERATED = '/docs/json'

function describeProduct({
  name,
  version,
  publicUrl,
  sessionCookie,
  isInternal = false,
}: Omit<DocumentOptions, 'errorFormat'>) {
  return {
    openapi: '3.1.1',
    info: {
      title: name,
      version,
      description: INTRODUCTION,
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: isInternal ? TAGS : TAGS.filter(({ name }) => !INTERNAL.includes(name)),
    components: { securitySchemes: securitySchemes(isInternal ? sessionCookie : undefined) },
  }
}
