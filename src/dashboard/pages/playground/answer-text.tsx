/** What a model wrote: read as Markdown once the reader of Markdown is here, as plain text until then. */
import { Text } from '@mantine/core'
import { lazy, Suspense, useDeferredValue } from 'react'

/** Blanks and line ends stay what they are. */
export const AS_WRITTEN = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** A chunk of its own: who never talks to a model does not load it. */
const Markdown = lazy(async () => ({ default: (await import('./markdown')).Markdown }))

/** `text` may grow while it is shown. */
export function AnswerText({ text }: { text: string }) {
  // A long answer is read anew for every piece of it: writing goes first.
  const shown = useDeferredValue(text)
  return (
    <Suspense fallback={<PlainText text={text} />}>
      <Markdown text={shown} />
    </Suspense>
  )
}

/** What a person wrote is never read as anything. */
export function PlainText({ text }: { text: string }) {
  return (
    <Text size="sm" component="div" style={AS_WRITTEN}>
      {text}
    </Text>
  )
}
