/** The vendors' libraries for Java, in the same words as those of `libraries/`. */
import type { Access, Library, Talked } from '@test/clients/libraries/library'
import type { Worker } from '@test/clients/worker'
import type { FormatName } from '@/chat/format-name'

/** A library that can also be asked for one long answer of any shape. */
export type JavaLibrary = Library & { ask(access: Access, model: string, prompt: string): Promise<Talked> }

/** `name` is what `Worker.java` knows it by, `artifact` what `pom.xml` does. */
type Declared = { name: string; artifact: string; family: FormatName; counts: boolean }

/** Each of them. */
export const JAVA_LIBRARIES: readonly Declared[] = [
  { name: 'openai', artifact: 'openai-java', family: 'chat-completions', counts: false },
  { name: 'openai-responses', artifact: 'openai-java', family: 'responses', counts: false },
  { name: 'anthropic', artifact: 'anthropic-java', family: 'messages', counts: true },
  { name: 'google-genai', artifact: 'google-genai', family: 'generate-content', counts: true },
]

/** Speaks to the process in which a library runs. */
export function libraryOf({ name, family, counts }: Declared, worker: Worker): JavaLibrary {
  // What a method returns is what the same method returns in TypeScript.
  const call = <T>(method: string, parameters: object) => worker.call(method, parameters) as Promise<T>
  return {
    name: `Java: ${name}`,
    family,
    talk: (access, talk) => call('talk', { access, ...talk }),
    ask: (access, model, prompt) => call('ask', { access, model, prompt }),
    fail: (access, model, isStream = false) => call('fail', { access, model, isStream }),
    listModels: (access) => call('listModels', { access }),
    getModel: (access, model) => call('getModel', { access, model }),
    ...(counts && { countTokens: (access, model) => call('countTokens', { access, model }) }),
  }
}
