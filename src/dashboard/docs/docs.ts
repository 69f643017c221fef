/** The browser's entry to the API documentation: Swagger UI with the OpenAPI document, in the dashboard's colour scheme. */
import 'swagger-ui-dist/swagger-ui.css'
import './docs.css'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { BRAND } from '@/dashboard/brand'
import { keepAccessible } from './accessible'

const CHOICE = 'mantine-color-scheme-value'
const DARK_CLASS = 'dark-mode'

/** `?internal=true` also shows routes that only the dashboard's pages use. */
const isInternal = new URLSearchParams(location.search).get('internal') === 'true'
const INTERNAL_TAGS = ['Dashboard', 'Administration']

type System = {
  React: { createElement(component: Component, props: OperationsProps): unknown }
  layoutActions: { show(thing: readonly string[], isShown: boolean): void }
}
type Component = (props: OperationsProps) => unknown
type OperationsProps = { specSelectors: { taggedOperations(): Tagged }; key?: string }
/** The operations by tag, in an ordered map of Swagger UI. */
type Tagged = {
  filter(isKept: (operations: unknown, tag: string) => boolean): Tagged
  keySeq(): { toArray(): string[] }
}

/** Renders each tag's operations as its own list: a list of 150 rows or more renders only its visible part, so searches fail. */
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

/** An operation's line is a button, so its path must not be a link. */
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

function internalSwitch(): HTMLElement {
  const footer = document.createElement('footer')
  footer.className = 'internal-switch'
  const link = document.createElement('a')
  link.href = isInternal ? '/docs' : '/docs?internal=true'
  link.textContent = isInternal ? 'Hide internal routes' : 'Show internal routes'
  footer.append(link, isInternal ? '' : ' of the dashboard. They change without notice.')
  for (const { label, href } of BRAND.links) {
    const own = document.createElement('a')
    own.href = href
    own.textContent = label
    footer.append(' · ', own)
  }
  return footer
}

function followScheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const choice = localStorage.getItem(CHOICE)
    const isDark = choice === 'dark' || (choice !== 'light' && system.matches)
    const { classList, style } = document.documentElement
    classList.toggle(DARK_CLASS, isDark)
    if (BRAND.shades) style.setProperty('--link', BRAND.shades[isDark ? 3 : 7])
  }
  system.addEventListener('change', apply)
  addEventListener('storage', apply)
  apply()
}
