/** The code snippets that people copy work: each runs against a gateway, also with unusual texts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatStream, eventStream } from '@test/support/upstream'
import { type SnippetCall, snippetsOf } from '@/dashboard/snippets'

/** Inside the project, so that the libraries are found. */
const CACHE = join(import.meta.dir, '..', '..', '.cache')
let gateway: TestGateway
let customer: Customer
let folder: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => eventStream(...chatStream(['Hello ', 'from the model'])) })
  customer = await gateway.customer('10')
  folder = await mkdtemp(join(CACHE, 'snippets-'))
})
afterAll(async () => {
  await gateway.stop()
  await rm(folder, { recursive: true, force: true })
})

const AWKWARD = `It's "quoted" \\ $HOME \`tick\` \${x} %s\nnew line\ttab 🙂 </script>`

function call(more: Partial<SnippetCall> = {}): SnippetCall {
  return {
    ...{ origin: gateway.url, key: customer.key, model: 'svc/alpha', system: '' },
    ...{ turns: [{ role: 'user', text: 'Hi' }], temperature: undefined, maxTokens: undefined },
    ...more,
  }
}

const LONG: Partial<SnippetCall> = {
  ...{ system: AWKWARD, temperature: 0.5, maxTokens: 77 },
  turns: [
    { role: 'user', text: AWKWARD },
    { role: 'assistant', text: "That's fine." },
    { role: 'user', text: 'And now?' },
  ],
}

async function run(id: string, code: string): Promise<string> {
  const command = id === 'curl' ? ['sh', '-c', `${code} --silent --show-error`] : ['bun', join(folder, `${id}.ts`)]
  if (id !== 'curl') await Bun.write(join(folder, `${id}.ts`), code)
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ exit: await child.exited, errors }).toEqual({ exit: 0, errors: '' })
  return output
}

describe.each(['curl', 'openai', 'openai-responses', 'anthropic', 'genai'])('the snippet for %s', (id) => {
  const code = (more?: Partial<SnippetCall>) => snippetsOf(call(more)).find((snippet) => snippet.id === id)?.code ?? ''

  test('the snippet prints the answer as it streams', async () => {
    const output = await run(id, code())
    expect(output).toContain('Hello ')
    expect(output).toContain('from the model')
  })

  test('the snippet has exactly the chosen values, with any characters', async () => {
    await run(id, code(LONG))
    const { body } = gateway.upstream.calls.at(-1) ?? {}
    expect(body).toMatchObject({ temperature: 0.5, stream: true })
    expect(body?.max_tokens ?? body?.max_completion_tokens).toBe(77)
    expect(body?.messages).toMatchObject([
      { role: 'system', content: AWKWARD },
      { role: 'user', content: AWKWARD },
      { role: 'assistant', content: "That's fine." },
      { role: 'user', content: 'And now?' },
    ])
  })
})

test('the Python snippet is valid Python, by Python’s own parser if installed', async () => {
  const code = snippetsOf(call(LONG)).find(({ id }) => id === 'python')?.code ?? ''
  expect(code).toContain(`base_url='${gateway.url}/v1'`)
  expect(code).toContain('max_tokens=77')
  const python = Bun.which('python3')
  if (!python) return
  const file = join(folder, 'python.py')
  await Bun.write(file, code)
  const child = Bun.spawn([python, '-c', 'import ast, sys; ast.parse(open(sys.argv[1]).read())', file], {
    stderr: 'pipe',
  })
  expect({ errors: await new Response(child.stderr).text(), exit: await child.exited }).toEqual({ errors: '', exit: 0 })
})
