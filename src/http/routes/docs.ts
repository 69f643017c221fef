/** The developer documentation: Swagger UI from local files, over the OpenAPI document that the routes describe themselves. */
import { dirname, join } from 'node:path'
import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import type { HttpDeps } from '@/http/deps'
import { SECURITY_SCHEMES } from '@/http/openapi'
import { NO_SNIFFING, transportSecurity } from '@/http/pages'
import { GENERATE_CONTENT_PATHS } from './generate-content'
import { MODEL_PATHS } from './models'

type SwaggerPaths = NonNullable<NonNullable<NonNullable<Parameters<typeof swagger>[0]>['documentation']>['paths']>

/** Scripts and styles come from this origin alone, so the page works without the internet and runs nothing injected. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API documentation</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
`

const START_SCRIPT = `SwaggerUIBundle({ url: '/docs/json', dom_id: '#swagger-ui', deepLinking: true, persistAuthorization: false })\n`

/** Mounts `GET /docs`, its assets, and `GET /docs/json`. Must be mounted after every route that it documents. */
export function docsRoutes(deps: HttpDeps) {
  const safety = { ...NO_SNIFFING, ...transportSecurity(deps.publicUrl) }
  return new Elysia({ name: 'docs-routes' })
    .onTransform(({ set }) => void Object.assign(set.headers, safety))
    .use(
      swagger({
        path: '/docs',
        specPath: '/docs/json',
        provider: 'swagger-ui',
        exclude: [/^\/docs/],
        documentation: {
          info: {
            title: 'svc-gateway',
            version: '1',
            description: 'One API key for every model, in three compatible formats, paid from prepaid credit.',
          },
          ...(deps.publicUrl !== undefined && { servers: [{ url: deps.publicUrl }] }),
          paths: { ...GENERATE_CONTENT_PATHS, ...MODEL_PATHS } as SwaggerPaths,
          components: { securitySchemes: SECURITY_SCHEMES },
        },
      }),
    )
    .get('/docs', () => asset(PAGE, 'text/html; charset=utf-8', 'no-cache'), HIDDEN)
    .get('/docs/assets/swagger-ui.css', () => distAsset('swagger-ui.css', 'text/css; charset=utf-8'), HIDDEN)
    .get('/docs/assets/swagger-ui-bundle.js', () => distAsset('swagger-ui-bundle.js', SCRIPT_TYPE), HIDDEN)
    .get('/docs/assets/start.js', () => asset(START_SCRIPT, SCRIPT_TYPE), HIDDEN)
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const HIDDEN = { detail: { hide: true } }

const DIST = dirname(Bun.resolveSync('swagger-ui-dist/package.json', import.meta.dir))

function distAsset(file: string, contentType: string): Response {
  return asset(Bun.file(join(DIST, file)), contentType)
}

function asset(body: BodyInit, contentType: string, cacheControl = 'public, max-age=3600'): Response {
  return new Response(body, {
    headers: {
      'content-type': contentType,
      'cache-control': cacheControl,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
    },
  })
}
