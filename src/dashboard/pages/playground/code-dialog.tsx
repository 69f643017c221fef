/** The call that the playground makes, as code to paste elsewhere. */
import { Anchor, Button, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconCode } from '@tabler/icons-react'
import { Link } from 'wouter'
import { SnippetTabs } from '@/dashboard/components/snippet-tabs'
import { KEY_PLACEHOLDER } from '@/dashboard/snippets'
import { keyOf, type Message, type Settings } from './settings'

/** A model has to be asked something. */
const EXAMPLE: Message = { role: 'user', text: 'Say hello' }

/** The button and its dialog; `messages` is the conversation so far. */
export function CodeDialog({ settings, messages }: { settings: Settings; messages: readonly Message[] }) {
  const [isOpen, { open, close }] = useDisclosure()
  const isPhone = useMediaQuery('(max-width: 48em)')
  const key = keyOf(settings) || KEY_PLACEHOLDER
  const { model, system, temperature, maxTokens } = settings
  const asked = messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages
  return (
    <>
      <Button variant="default" size="sm" leftSection={<IconCode size={16} />} onClick={open}>
        Code
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title="The same call as code"
        size="xl"
        fullScreen={isPhone ?? false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack gap="md">
          <SnippetTabs
            call={{
              origin: window.location.origin,
              key,
              model,
              system: system.trim(),
              turns: asked.length > 0 ? asked : [EXAMPLE],
              temperature: temperature === '' ? undefined : temperature,
              maxTokens: maxTokens === '' ? undefined : maxTokens,
            }}
          />
          {asked.some(({ images = [] }) => images.length > 0) && (
            <Text size="sm" c="dimmed">
              The images are left out here.
            </Text>
          )}
          {key === KEY_PLACEHOLDER && (
            <Text size="sm" c="dimmed">
              Put one of your{' '}
              <Anchor component={Link} href="/keys" size="sm" underline="always">
                API keys
              </Anchor>{' '}
              in place of {KEY_PLACEHOLDER}.
            </Text>
          )}
        </Stack>
      </Modal>
    </>
  )
}
