/** What compose.yaml gives to its containers, worked out as compose does it: `.env`, then `environment`, with names filled in. */
import { join } from 'node:path'

type Service = {
  env_file?: string
  environment?: Record<string, string>
  volumes?: string[]
  depends_on?: Record<string, { condition: string }> | string[]
  ports?: string[]
  read_only?: boolean
  healthcheck?: object
  image?: string
  [key: string]: unknown
}

type ComposeFile = { services: Record<string, Service>; volumes: Record<string, null> }

/** The project's root, where compose.yaml lies. */
export const ROOT = join(import.meta.dir, '..', '..')

/** Reads a file of compose in the project's root. */
export async function readComposeFile(name: string): Promise<ComposeFile> {
  return Bun.YAML.parse(await Bun.file(join(ROOT, name)).text()) as ComposeFile
}

/** Fills in `${NAME}`, `${NAME:-default}` and `${NAME:?words}` in `text`. Throws if the last has no value. */
export function fillIn(text: string, variables: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, words?: string) => {
    const value = variables[name]
    if (value) return value
    if (kind === '?') throw new Error(`${name} has to be set`)
    return words ?? ''
  })
}

/** The environment of a container of `service` beside an `.env` of `variables`. */
export function environmentOf(service: Service, variables: Record<string, string>): Record<string, string> {
  const fixed = Object.entries(service.environment ?? {}).map(([name, text]) => [name, fillIn(text, variables)])
  return { ...(service.env_file === '.env' && variables), ...Object.fromEntries(fixed) }
}

/** The lines of `.env.example`: each name with what it says, and whether its line is in force. */
export async function readExample(): Promise<Map<string, { value: string; isSet: boolean; hasWords: boolean }>> {
  const lines = (await Bun.file(join(ROOT, '.env.example')).text()).split('\n')
  const found = new Map<string, { value: string; isSet: boolean; hasWords: boolean }>()
  let hasWords = false
  for (const line of lines) {
    const [, mark, name, value = ''] = /^(# )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name !== undefined) found.set(name, { value, isSet: mark === undefined, hasWords })
    // A comment goes for the lines below it up to an empty one.
    else hasWords = line.startsWith('# ') || (hasWords && line !== '')
  }
  return found
}
