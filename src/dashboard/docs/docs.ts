/** The browser's entry to the documentation: Swagger UI over the OpenAPI document, in the scheme of the dashboard. */
import 'swagger-ui-dist/swagger-ui.css'
import './docs.css'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { keepAccessible } from './accessible'

/** Where the dashboard's component library keeps what was chosen there. */
const CHOICE = 'mantine-color-scheme-value'
/** By this class on the document, the library of the page turns dark. */
const DARK_CLASS = 'dark-mode'

/** `?internal=true` also shows the routes that only the dashboard's own pages call. */
const isInternal = new URLSearchParams(location.search).get('internal') === 'true'
const INTERNAL_TAGS = ['Dashboard', 'Administration']

/** What is used of the library while it runs. */
type System = {
  React: { createElement(component: Component, props: OperationsProps): unknown }
  layoutActions: { show(thing: readonly string[], isShown: boolean): void }
}
type Component = (props: OperationsProps) => unknown
type OperationsProps = { specSelectors: { taggedOperations(): Tagged }; key?: string }
/** The operations by tag, in order: an ordered map of the library's. */
type Tagged = {
  filter(isKept: (operations: unknown, tag: string) => boolean): Tagged
  keySeq(): { toArray(): string[] }
}

/**
 * Draws each tag's operations as a list of their own. Of a list of 150 rows and more the library draws only what is in
 * sight: the page jumps to its top when the list grows to that, and the browser's search finds nothing further down.
 */
function listPerTag(List: Component, { React }: System): Component {
  return ({ specSelectors, ...props }) => {
    const tagged = specSelectors.taggedOperations()
    return tagged
      .keySeq()
      .toArray()
      .map((tag) => {
        const own = tagged.filter((_, other) => other === tag)
        return React.createElement(List, {
          ...props,
          specSelectors: { ...specSelectors, taggedOperations: () => own },
          key: tag,
        })
      })
  }
}

/** The line of an operation is a button, so the path in it must be no link. */
function PlainPath({ text }: { text: string }): string {
  return text
}

const root = document.getElementById('root')
if (root) {
  followScheme()
  keepAccessible(root)
  const ui: System = SwaggerUI({
    url: isInternal ? '/docs/json?internal=true' : '/docs/json',
    domNode: root,
    plugins: [{ components: { DeepLink: PlainPath }, wrapComponents: { operations: listPerTag } }],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    tryItOutEnabled: true,
    onComplete: () => {
      if (isInternal) for (const tag of INTERNAL_TAGS) ui.layoutActions.show(['operations-tag', tag], false)
      root.append(internalSwitch())
    },
  })
}

/** The link below the operations to the page with the internal routes, and back. */
function internalSwitch(): HTMLElement {
  const footer = document.createElement('footer')
  footer.className = 'internal-switch'
  const link = document.createElement('a')
  link.href = isInternal ? '/docs' : '/docs?internal=true'
  link.textContent = isInternal ? 'Hide internal routes' : 'Show internal routes'
  footer.append(link, isInternal ? '' : ' of the dashboard. They change without notice.')
  return footer
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
