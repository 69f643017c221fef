/** Where people write in the playground: Enter sends, Shift and Enter begin a new line. */
import { Box, Button, Group, Text, Textarea } from '@mantine/core'
import { IconPlayerStop, IconSend2 } from '@tabler/icons-react'
import { useState } from 'react'

type ComposerProps = {
  isWriting: boolean
  /** Why nothing can be sent; undefined where it can. */
  obstacle: string | undefined
  send(text: string): void
  stop(): void
}

/** Keeps what is written until it is sent. */
export function Composer({ isWriting, obstacle, send, stop }: ComposerProps) {
  const [text, setText] = useState('')
  const canSend = !isWriting && obstacle === undefined && text.trim() !== ''
  function submit() {
    if (!canSend) return
    send(text.trim())
    setText('')
  }
  return (
    <Box
      component="form"
      p="md"
      style={{ borderTop: '1px solid var(--hairline)' }}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Textarea
        aria-label="Message"
        placeholder="Write a message"
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter also ends the composition of a character in some languages.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          submit()
        }}
      />
      <Group justify="space-between" mt="xs" gap="sm">
        <Text size="xs" c="dimmed">
          {obstacle ?? 'Enter sends, Shift + Enter begins a new line'}
        </Text>
        {isWriting ? (
          <Button type="button" variant="default" leftSection={<IconPlayerStop size={16} />} onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" leftSection={<IconSend2 size={16} />} disabled={!canSend}>
            Send
          </Button>
        )}
      </Group>
    </Box>
  )
}
