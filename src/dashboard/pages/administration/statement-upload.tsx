/** The first step of importing a bank statement: a file or a text, and what it does not say of itself. */
import { Button, FileButton, Group, Select, SimpleGrid, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconFileImport } from '@tabler/icons-react'
import { answer, api } from '@/dashboard/client'
import { PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Section } from '@/dashboard/components/section'
import type { Preview } from './admin-data'

const MAX_CHARS = 2_000_000
const DATE_ORDERS = [
  { value: 'detect', label: 'Tell from the dates' },
  { value: 'day-first', label: 'Day first (31/12/2026)' },
  { value: 'month-first', label: 'Month first (12/31/2026)' },
] as const
type DateOrder = (typeof DATE_ORDERS)[number]['value']

export function StatementUpload({ onPreview }: { onPreview(preview: Preview): void }) {
  const form = useForm({
    initialValues: { text: '', dateOrder: 'detect' as DateOrder, currency: '' },
    validate: {
      text: (text) => {
        if (text.trim() === '') return 'Choose a file or paste its text.'
        return text.length > MAX_CHARS ? 'The statement is too long: 2,000,000 characters at most.' : null
      },
      currency: (text) => (/^([A-Z]{3})?$/.test(text) ? null : 'Three capital letters, such as USD.'),
    },
  })
  const submission = useSubmission(form, async ({ currency, ...values }) => {
    onPreview(await answer(api.admin.statements.preview.post({ ...values, ...(currency !== '' && { currency }) })))
  })
  return (
    <Section title="Choose a statement" description="A CSV file as your bank exports it, in English or German.">
      <PlainForm submission={submission} action="Preview">
        <Group gap="sm">
          <FileButton
            accept=".csv,.txt,text/csv,text/plain"
            inputProps={{ 'aria-label': 'CSV file' }}
            onChange={(file) => file && void readText(file).then((text) => form.setFieldValue('text', text))}
          >
            {(props) => (
              <Button variant="default" leftSection={<IconFileImport size={16} />} {...props}>
                Choose a file
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed">
            or paste its text below
          </Text>
        </Group>
        <Textarea
          label="Statement"
          rows={10}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
          spellCheck={false}
          {...form.getInputProps('text')}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }} maw={560}>
          <Select
            label="Dates with slashes"
            data={DATE_ORDERS}
            allowDeselect={false}
            {...form.getInputProps('dateOrder')}
          />
          <TextInput
            label="Currency"
            description="Only where the statement has none"
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            placeholder="USD"
            maxLength={3}
            {...form.getInputProps('currency')}
          />
        </SimpleGrid>
      </PlainForm>
    </Section>
  )
}

/** Banks write UTF-8, UTF-16 with its mark, or the Windows alphabet of Western Europe. */
async function readText(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
