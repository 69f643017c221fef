/** The browser's entry to the documentation: Swagger UI over the OpenAPI document, in the scheme of the dashboard. */
import 'swagger-ui-dist/swagger-ui.css'
import './docs.css'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { keepAccessible } from './accessible'

/** Where the dashboard's component library keeps what was chosen there. */
const CHOICE = 'mantine-color-scheme-value'
/** By this class on the document, the library of the page turns dark. */
const DARK_CLASS = 'dark-mode'

/** What only the pages of the dashboard call: open to read, but in nobody's way. Of 150 rows and more, the library draws only what is in sight. */
const COLLAPSED_TAGS = ['Dashboard', 'Administration']

/** What is used of the library while it runs. */
type System = { layoutActions: { show(thing: readonly string[], isShown: boolean): void } }

/** The line of an operation is a button, so the path in it must be no link. */
function PlainPath({ text }: { text: string }): string {
  return text
}

const root = document.getElementById('root')
if (root) {
  followScheme()
  keepAccessible(root)
  const ui: System = SwaggerUI({
    url: '/docs/json',
    domNode: root,
    plugins: [{ components: { DeepLink: PlainPath } }],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    tryItOutEnabled: true,
    onComplete: () => {
      for (const tag of COLLAPSED_TAGS) ui.layoutActions.show(['operations-tag', tag], false)
    },
  })
}

/** Keeps the page in its scheme. */
function followScheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const choice = localStorage.getItem(CHOICE)
    const isDark = choice === 'dark' || (choice !== 'light' && system.matches)
    document.documentElement.classList.toggle(DARK_CLASS, isDark)
  }
  system.addEventListener('change', apply)
  addEventListener('storage', apply)
  apply()
}
