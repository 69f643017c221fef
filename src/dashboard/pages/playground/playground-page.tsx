import { Anchor, Box, Button, Grid, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconCode, IconEraser } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { chatModels, type ModelBody, type TierBody, useCatalogue } from '@/dashboard/catalogue'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { SnippetTabs } from '@/dashboard/components/snippet-tabs'
import { Loaded } from '@/dashboard/components/states/loaded'
import { KEY_PLACEHOLDER } from '@/dashboard/snippets'
import { Composer } from './composer'
import { Conversation } from './conversation'
import { DEFAULT_SETTINGS, keyOf, type Message, obstacle, type Settings } from './settings'
import { SettingsPanel } from './settings-panel'
import { messagesOf, useChat } from './use-chat'

type Catalogue = { models: readonly ModelBody[]; tiers: readonly TierBody[] }

/** The page at `/playground`, to try models with tokens and cost of each answer; `?model=` chooses a model. */
export function PlaygroundPage() {
  const query = useCatalogue()
  return (
    <Page title="Playground" description="Talk to any model, see what it costs, and take the call with you as code.">
      <Loaded query={query}>
        {({ models, tiers }) => <Playground catalogue={{ models: chatModels(models), tiers }} />}
      </Loaded>
    </Page>
  )
}

function Playground({ catalogue }: { catalogue: Catalogue }) {
  const [parameters] = useSearchParams()
  const [settings, setSettings] = useState<Settings>(() => ({
    ...DEFAULT_SETTINGS,
    model: chosenModel(catalogue, parameters.get('model')),
  }))
  const chat = useChat()
  const change = (changes: Partial<Settings>) => setSettings((now) => ({ ...now, ...changes }))
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Box className="surface">
          <Group p="md" gap="sm" style={{ borderBottom: '1px solid var(--hairline)' }}>
            <Select
              aria-label="Model"
              placeholder="Choose a model"
              data={optionsOf(catalogue)}
              value={settings.model || null}
              onChange={(model) => change({ model: model ?? '' })}
              searchable
              allowDeselect={false}
              nothingFoundMessage="No model of that name"
              style={{ flex: '1 1 220px' }}
            />
            <CodeDialog settings={settings} messages={messagesOf(chat.turns)} />
            <Button
              variant="default"
              size="sm"
              leftSection={<IconEraser size={16} />}
              disabled={chat.turns.length === 0}
              onClick={chat.clear}
            >
              Clear
            </Button>
          </Group>
          <Conversation chat={chat} retry={() => chat.retry(settings)} />
          <Composer
            isWriting={chat.isWriting}
            obstacle={obstacle(settings)}
            takesImages={takesImages(catalogue, settings.model)}
            send={(text, images) => chat.say(text, images, settings)}
            stop={chat.stop}
          />
        </Box>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Section title="Settings">
          <SettingsPanel settings={settings} change={change} />
        </Section>
      </Grid.Col>
    </Grid>
  )
}

/** The model in the URL if it exists, else the first tier or model. */
function chosenModel({ models, tiers }: Catalogue, named: string | null): string {
  const ids = [...tiers, ...models].map(({ id }) => id)
  return ids.find((id) => id === named) ?? ids[0] ?? ''
}

/** A tier accepts images if one of its models does, since it sends the request to such a model. */
function takesImages({ models, tiers }: Catalogue, id: string): boolean {
  const candidates = tiers.find((tier) => tier.id === id)?.candidates ?? [id]
  return models.some((model) => candidates.includes(model.id) && model.capabilities.includes('images'))
}

function optionsOf({ models, tiers }: Catalogue) {
  const items = (list: readonly { id: string; name: string }[]) =>
    list.map(({ id, name }) => ({ value: id, label: `${name} (${id})` }))
  return [
    { group: 'Automatic', items: items(tiers) },
    { group: 'Models', items: items(models) },
  ].filter((group) => group.items.length > 0)
}

const EXAMPLE: Message = { role: 'user', text: 'Say hello' }

function CodeDialog({ settings, messages }: { settings: Settings; messages: readonly Message[] }) {
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
