/** The one moment in which a whole API key can be seen: what it is, and code to try it with. */
import { Alert, Box, Button, Group, Stack, Text } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { chatModels, useCatalogue } from '@/dashboard/catalogue'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { SnippetTabs } from '@/dashboard/components/snippet-tabs'

/** Shows `value` until the person says that it is kept. */
export function CreatedKey({ value, finish }: { value: string; finish(): void }) {
  const catalogue = useCatalogue().data
  const model = catalogue?.tiers[0]?.id ?? chatModels(catalogue?.models ?? [])[0]?.id ?? 'auto-smart'
  return (
    <Stack gap="md">
      <Alert color="yellow" icon={<IconInfoCircle size={18} />}>
        Copy the key now and keep it somewhere safe. It is not stored and cannot be shown again.
      </Alert>
      <Box className="surface" p="md">
        <CopyField label="API key" value={value} isLabelHidden />
      </Box>
      <Box>
        <Text fw={600} mb={4}>
          Try it
        </Text>
        <SnippetTabs
          call={{
            origin: window.location.origin,
            key: value,
            model,
            system: '',
            turns: [{ role: 'user', text: 'Say hello' }],
            temperature: undefined,
            maxTokens: undefined,
          }}
        />
      </Box>
      <Group justify="flex-end">
        <Button onClick={finish}>I have copied the key</Button>
      </Group>
    </Stack>
  )
}
