/** The versions on the guide's pages about client libraries and coding tools equal the installed ones. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { AIDER, PACKAGES } from '@test/clients/cli/programs'
import { versionIn } from '@test/clients/python/versions'
import { readGuide } from './guide-files'

const ROOT = join(import.meta.dir, '..', '..', '..')
const { devDependencies } = await Bun.file(join(ROOT, 'package.json')).json()

/** Each version as pages name it, without a last number where that is not named. */
function missing(page: string, versions: Readonly<Record<string, string>>): string[] {
  return Object.entries(versions).flatMap(([name, version]) => {
    const short = version.split('.').slice(0, 2).join('.')
    const isNamed = [version, short].some(
      (text) => page.includes(`${name}\` ${text}`) || page.includes(`${name}@${text}`),
    )
    return isNamed ? [] : [`${name} ${version}`]
  })
}

test('the page on coding tools names the version of each tool that is run', async () => {
  const page = await readGuide('coding-tools')
  expect(missing(page, PACKAGES)).toEqual([])
  expect(page).toContain(`aider-chat==${AIDER}`)
  for (const version of [...Object.values(PACKAGES), AIDER])
    expect(page).toMatch(new RegExp(`^\\| .*${version} \\|$`, 'm'))
})

test('the page on client libraries names the version of each library that is tested', async () => {
  const page = await readGuide('libraries')
  const names = ['openai', '@anthropic-ai/sdk', '@google/genai', '@openai/agents', '@langchain/openai']
  const node = [...names, '@ai-sdk/openai', '@ai-sdk/anthropic', '@ai-sdk/google']
  const python = ['openai', 'anthropic', 'google-genai'].map((name) => [name, versionIn('sdks', name)])
  const frameworks = ['langchain-openai', 'langchain-anthropic', 'langchain-google-genai', 'pydantic-ai-slim']
  const run = frameworks.map((name) => [name, versionIn('frameworks', name)])
  expect(missing(page, Object.fromEntries(node.map((name) => [name, devDependencies[name]])))).toEqual([])
  expect(missing(page, Object.fromEntries([...python, ...run]))).toEqual([])
})

test('the check of versions reports a version that a page does not name', () => {
  expect(missing('`openai` 7.55', { openai: '8.1.0' })).toEqual(['openai 8.1.0'])
})
