/** Fields that only a generate-content provider supports. */
import { expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

test('fields that only a provider of this format supports are listed and kept', () => {
  const request = decode({
    cachedContent: 'cachedContents/1',
    tools: [{ functionDeclarations: [{ name: 'a' }] }, { google_search: {} }],
    generationConfig: {
      responseMimeType: 'text/x.enum',
      mediaResolution: 'LOW',
    },
    labels: { team: 'x' },
    contents: [{ parts: [{ text: 'Hi' }, { toolResponse: {} }, { unheardOf: {} }] }],
  })
  expect(request.nativeOnly).toEqual([
    'cachedContent',
    'generationConfig.responseMimeType (text/x.enum)',
    'tools[1] (googleSearch)',
    'contents[0].parts[2] (unheardOf)',
  ])
  expect(request.hostedHistory).toEqual(['contents.toolResponse'])
  expect(request.extensions['generate-content']).toMatchObject({
    cachedContent: 'cachedContents/1',
    labels: { team: 'x' },
    generationConfig: { mediaResolution: 'LOW' },
  })
})
