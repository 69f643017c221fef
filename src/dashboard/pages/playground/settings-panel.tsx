import { Anchor, NumberInput, PasswordInput, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useId } from 'react'
import { Link } from 'wouter'
import type { Settings } from './settings'

const MAX_TEMPERATURE = 2
const MAX_TOKENS = 128_000

/** The settings beside the playground: model parameters, and the key that pays. `change` takes only the changed settings. */
export function SettingsPanel({ settings, change }: { settings: Settings; change(changes: Partial<Settings>): void }) {
  return (
    <Stack gap="md">
      <Textarea
        label="System prompt"
        placeholder="How the model should behave"
        autosize
        minRows={3}
        maxRows={12}
        value={settings.system}
        onChange={(event) => change({ system: event.currentTarget.value })}
      />
      <NumberInput
        label="Temperature"
        description="0 is steady, 2 is wild"
        placeholder="The model’s own"
        min={0}
        max={MAX_TEMPERATURE}
        step={0.1}
        decimalScale={2}
        value={settings.temperature}
        onChange={(value) => change({ temperature: value === '' ? '' : Number(value) })}
      />
      <NumberInput
        label="Longest answer"
        description="In tokens; also limits the credit held during the answer"
        placeholder="The model’s own"
        min={1}
        max={MAX_TOKENS}
        allowDecimal={false}
        thousandSeparator=","
        hideControls
        value={settings.maxTokens}
        onChange={(value) => change({ maxTokens: value === '' ? '' : Number(value) })}
      />
      <Payer settings={settings} change={change} />
    </Stack>
  )
}

function Payer({ settings, change }: { settings: Settings; change(changes: Partial<Settings>): void }) {
  const label = useId()
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500} id={label}>
        Pay by
      </Text>
      <SegmentedControl
        aria-labelledby={label}
        size="sm"
        fullWidth
        data={[
          { value: 'session', label: 'My session' },
          { value: 'key', label: 'An API key' },
        ]}
        value={settings.payer}
        onChange={(payer) => change({ payer: payer === 'key' ? 'key' : 'session' })}
      />
      {settings.payer === 'session' ? (
        <Text size="xs" c="dimmed">
          Paid from your credit, under the built-in key “Playground” of{' '}
          <Anchor component={Link} href="/keys" size="xs" underline="always">
            API keys
          </Anchor>
          .
        </Text>
      ) : (
        <PasswordInput
          label="API key"
          description="Kept on this page only, until you leave it"
          placeholder="svc-…"
          autoComplete="off"
          value={settings.key}
          onChange={(event) => change({ key: event.currentTarget.value })}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
        />
      )}
    </Stack>
  )
}
