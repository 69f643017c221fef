/** The OpenAPI document: the swagger plugin generates it from every route that isn't hidden, and `refineDocument` makes it short. */
import { Elysia } from 'elysia'
import type { Format } from '@/formats/format'
import { refineDocument } from './refine'
import { securitySchemes } from './security'
import { type DocumentedRoute, describedPaths } from './wildcards'

/** What people come for first; what the dashboard's own pages call comes last. */
const TAGS = [
  { name: 'Inference', description: 'Ask a model, in the words of any of the formats' },
  { name: 'Models', description: 'What can be asked for, and what it costs' },
  { name: 'Stored responses', description: 'Answers that were kept to be gone on from' },
  { name: 'Usage', description: 'What was spent, and how good it was' },
  {
    name: 'Management',
    description: 'Keys, members, budgets and orders of an account, for programs with a management key',
  },
  { name: 'Operations', description: 'For those who run the service' },
  { name: 'Webhooks', description: 'For payment providers' },
  { name: 'Dashboard', description: 'What the pages of the dashboard call; changes without notice' },
  { name: 'Administration', description: 'What the pages of administrators call; changes without notice' },
]

type DocumentOptions = {
  /** Every route there is. */
  routes(): DocumentedRoute[]
  /** Of the product. */
  version: string
  /** The address people open; undefined: the one that the document was fetched from. */
  publicUrl: string | undefined
  /** In whose words errors are where no format is asked. */
  errorFormat: Format
  /** The name of the cookie of a signed-in person. */
  sessionCookie: string
}

/** Builds the document. The plugin is loaded by that, since no start of the gateway is to wait for it. */
export async function openApiDocument({ routes, errorFormat, ...options }: DocumentOptions): Promise<object> {
  const { swagger } = await import('@elysiajs/swagger')
  const documentation = { ...describeProduct(options), paths: describedPaths(routes()) }
  const generator = new Elysia()
  // Where its plugins look for routes: the application itself serves already, and can take no plugin any more.
  Object.defineProperty(generator, 'getGlobalRoutes', { value: routes })
  generator.use(swagger({ specPath: GENERATED, documentation, excludeStaticFile: false }))
  const generated = await generator.handle(new Request(`http://localhost${GENERATED}`))
  return refineDocument(await generated.json(), errorFormat)
}

const GENERATED = '/docs/json'

function describeProduct({ version, publicUrl, sessionCookie }: Omit<DocumentOptions, 'routes' | 'errorFormat'>) {
  return {
    openapi: '3.1.1',
    info: {
      title: 'svc-gateway',
      version,
      description:
        'One API key for every model, in compatible formats, paid from prepaid credit. [Guide](/docs/guide).',
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: TAGS,
    components: { securitySchemes: securitySchemes(sessionCookie) },
  }
}
