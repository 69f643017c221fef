/** Recorded answers of providers: a folder for each format, and in it `.json` for answers in one piece and `.sse` for streams. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'

export type Recording = { name: string; provider: FormatName; mode: 'json' | 'stream'; text: string }

/** Answers that nobody gets who asks for one. */
const SEVERAL_ANSWERS = /two-(choices|answers|candidates)/

/** Every recording below `folder`. */
export function readRecordings(folder: string): Recording[] {
  return FORMAT_NAMES.flatMap((provider) => {
    const path = join(folder, provider)
    if (!existsSync(path)) return []
    return readdirSync(path, { recursive: true, encoding: 'utf8' }).flatMap((name): Recording[] => {
      const extension = extname(name)
      // What a client asked lies there as well.
      if (
        name.endsWith('-request.json') ||
        SEVERAL_ANSWERS.test(name) ||
        (extension !== '.json' && extension !== '.sse')
      )
        return []
      const mode = extension === '.sse' ? 'stream' : 'json'
      return [{ name: `${provider}/${name}`, provider, mode, text: readFileSync(join(path, name), 'utf8') }]
    })
  })
}

/** The answer as its provider gave it. */
export function replay({ mode, text }: Recording): Response {
  const type = mode === 'stream' ? 'text/event-stream' : 'application/json'
  return new Response(text, { headers: { 'content-type': type } })
}
