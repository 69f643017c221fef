/** The page to import a bank statement: upload or paste, preview, commit. */

import { Button, FileButton, Group, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconFileImport } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { formatCount } from '@/dashboard/format'
import { decodeText } from '@/lib/decode-text'
import { administer } from '@/people/client'
import type { Committed, Preview } from './admin-data'
import { StatementLines } from './statement-lines'
import { StatementPreview } from './statement-preview'
import { RESULT_WORDS } from './words'

type Step =
  | { kind: 'upload' }
  | { kind: 'preview'; preview: Preview }
  | { kind: 'result'; preview: Preview; committed: Committed }

export function AdminStatementsPage() {
  const [step, setStep] = useState<Step>({ kind: 'upload' })
  const restart = () => setStep({ kind: 'upload' })
  return (
    <Page
      title="Bank statements"
      description="Payments are matched to orders by their reference and amount. Nothing is credited before you have seen it."
    >
      {step.kind === 'upload' && <StatementUpload onPreview={(preview) => setStep({ kind: 'preview', preview })} />}
      {step.kind === 'preview' && (
        <StatementPreview
          preview={step.preview}
          back={restart}
          onCommitted={(committed) => setStep({ kind: 'result', preview: step.preview, committed })}
        />
      )}
      {step.kind === 'result' && (
        <StatementResult preview={step.preview} committed={step.committed} restart={restart} />
      )}
    </Page>
  )
}

type StatementResultProps = { preview: Preview; committed: Committed; restart(): void }

function StatementResult({ preview, committed, restart }: StatementResultProps) {
  const results = new Map(committed.lines.map(({ line, result }) => [line, result]))
  const countOf = (wanted: string) => committed.lines.filter(({ result }) => result === wanted).length
  const lines = preview.lines.flatMap((line) => {
    const result = results.get(line.line)
    return result === undefined ? [] : [{ line, ...RESULT_WORDS[result] }]
  })
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <Stat label="Credited" value={formatCount(countOf('credited'))} />
        <Stat label="Wait for approval" value={formatCount(countOf('awaiting_approval'))} />
        <Stat label="Kept for a decision" value={formatCount(countOf('kept'))} />
      </SimpleGrid>
      <Section
        title="Imported"
        description="Uploading the same statement again finds these lines imported."
        actions={
          <Group gap="sm">
            {countOf('awaiting_approval') > 0 && (
              <Button component={Link} href="/admin/approvals" variant="default">
                Approvals
              </Button>
            )}
            {countOf('kept') > 0 && (
              <Button component={Link} href="/admin/orders" variant="default">
                Payments to match
              </Button>
            )}
            <Button onClick={restart}>Import another</Button>
          </Group>
        }
        isFlush
      >
        <StatementLines lines={lines} />
      </Section>
    </Stack>
  )
}

/** Maximum characters of a statement, and maximum bytes of its file. */
const MAX_CHARS = 20_000_000
const TOO_LONG = 'The statement is too long: 20 MB at most.'
/** Maximum characters shown in the field: a whole long file would make the page slow. */
const SHOWN_CHARS = 100_000
const DATE_ORDERS = [
  { value: 'detect', label: 'Detect from the dates' },
  { value: 'day-first', label: 'Day first (31/12/2026)' },
  { value: 'month-first', label: 'Month first (12/31/2026)' },
] as const
type DateOrder = (typeof DATE_ORDERS)[number]['value']

function StatementUpload({ onPreview }: { onPreview(preview: Preview): void }) {
  const form = useForm({
    initialValues: { text: '', dateOrder: 'detect' as DateOrder, currency: '' },
    validate: {
      text: (text) => {
        if (text.trim() === '') return 'Choose a file or paste its text.'
        return text.length > MAX_CHARS ? TOO_LONG : null
      },
      currency: (text) => (/^([A-Z]{3})?$/.test(text) ? null : 'Three capital letters, such as USD.'),
    },
  })
  const submission = useSubmission(form, async ({ currency, ...values }) => {
    onPreview(await administer('POST /statements/preview', { ...values, ...(currency !== '' && { currency }) }))
  })
  const { text } = form.values
  const isCut = text.length > SHOWN_CHARS
  async function choose(file: File | null): Promise<void> {
    if (!file) return
    if (file.size > MAX_CHARS) return form.setFieldError('text', TOO_LONG)
    const decoded = decodeText(new Uint8Array(await file.arrayBuffer()))
    if (decoded.kind === 'faulty') form.setFieldError('text', decoded.fault)
    else form.setFieldValue('text', decoded.text)
  }
  return (
    <Section
      title="Choose a statement"
      description="As your bank exports it: CAMT.053 (XML), or CSV in English or German."
    >
      <PlainForm submission={submission} action="Preview">
        <Group gap="sm">
          <FileButton
            accept=".csv,.txt,.xml,text/csv,text/plain,text/xml,application/xml"
            inputProps={{ 'aria-label': 'Statement file' }}
            onChange={(file) => void choose(file)}
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
          {...(isCut && { value: text.slice(0, SHOWN_CHARS), readOnly: true })}
          description={isCut ? `The first ${formatCount(SHOWN_CHARS)} characters of the file` : undefined}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }} maw={560}>
          <Select
            label="Dates with slashes (CSV)"
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
