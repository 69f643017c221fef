/** Forms that two people edit at once: a colleague's saved values are shown beside the typed ones, and one click chooses either. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ApiError, type Versioned } from '@/dashboard/client'
import { type Submission, useSubmission } from '@/dashboard/components/fields/use-submission'

type Values = Record<string, unknown>

type SharedFormOptions<Form extends Values, Given> = {
  /** The object as the page has it now. A newer version may arrive while somebody types. */
  given: Versioned<Given>
  formOf(given: Given): Form
  /** The labels of the form's fields. */
  labels: Partial<Record<keyof Form, string>>
  checks?(before: Form): Record<string, (value: never) => string | null>
  /** Sends the differences from `before`, with the version. Returns the object's new state, if the form stays open. */
  save(values: Form, before: Form, etag: string | undefined): Promise<Versioned<Given> | undefined>
}

type SharedForm<Form extends Values> = {
  form: UseFormReturnType<Form>
  submission: Submission
  /** The values that a colleague saved meanwhile, and the buttons to choose. */
  newer: ReactNode
}

/** A form of an object that others may change at the same time. */
export function useSharedForm<Form extends Values, Given>(options: SharedFormOptions<Form, Given>): SharedForm<Form> {
  const { given, formOf, labels, checks, save } = options
  const [before, setBefore] = useState(() => formOf(given.value))
  const etag = useRef(given.etag)
  const [newer, setNewer] = useState<Versioned<Form>>()
  const form = useForm<Form>({
    initialValues: before,
    validate: checks?.(before) as NonNullable<Parameters<typeof useForm<Form>>[0]>['validate'],
  })

  /** Starts the form again with the given values and version. */
  function begin(values: Form, version: string | undefined): void {
    etag.current = version
    setBefore(values)
    setNewer(undefined)
    form.setInitialValues(values)
    form.setValues(values)
    form.resetDirty(values)
  }

  const submission = useSubmission(form, async (values) => {
    try {
      const saved = await save(values, before, etag.current)
      if (saved) begin(formOf(saved.value), saved.etag)
    } catch (error) {
      if (error instanceof ApiError && error.newer)
        setNewer({ value: formOf(error.newer.value as Given), etag: error.newer.etag })
      throw error
    }
  })

  const seen = useRef(given.etag)
  useEffect(() => {
    if (given.etag === seen.current) return
    seen.current = given.etag
    const isUntouched = !form.isDirty() && !submission.isRunning
    if (isUntouched && given.etag !== etag.current) begin(formOf(given.value), given.etag)
  })

  const { error } = submission
  const isSettled = !newer && error instanceof ApiError && error.newer !== undefined
  return {
    form,
    submission: isSettled ? { ...submission, error: undefined } : submission,
    newer: newer && (
      <NewerVersion
        fields={differences(labels, before, newer.value, form.getValues())}
        take={() => begin(newer.value, newer.etag)}
        keep={() => {
          etag.current = newer.etag
        }}
      />
    ),
  }
}

type Difference = { label: string; saved: string; typed: string | undefined }

/** The fields that a colleague changed. `typed` is set if the person changed them too. */
function differences<Form extends Values>(
  labels: Partial<Record<keyof Form, string>>,
  before: Form,
  saved: Form,
  typed: Form,
): Difference[] {
  const isSame = (name: string, one: Form, other: Form) => JSON.stringify(one[name]) === JSON.stringify(other[name])
  return Object.entries(labels)
    .filter(([name]) => !isSame(name, before, saved))
    .map(([name, label]) => ({
      ...{ label: String(label), saved: wordsOf(saved[name]) },
      typed: isSame(name, before, typed) ? undefined : wordsOf(typed[name]),
    }))
}

function wordsOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return (Array.isArray(value) ? value.join(', ') : String(value)) || 'nothing'
}

type NewerVersionProps = { fields: readonly Difference[]; take(): void; keep(): void }

/** Shows a colleague's values. `take` puts them into the form; `keep` runs before the typed values are sent again. */
function NewerVersion({ fields, take, keep }: NewerVersionProps) {
  return (
    <Stack gap="sm" className="surface" p="md" role="group" aria-label="Saved meanwhile">
      {fields.map(({ label, saved, typed }) => (
        <div key={label}>
          <Text size="sm" fw={600}>
            {label}
          </Text>
          <Text size="sm" className="wrap-anywhere">
            Saved: {saved}
          </Text>
          {typed !== undefined && (
            <Text size="sm" className="wrap-anywhere">
              You typed: {typed}
            </Text>
          )}
        </div>
      ))}
      <Group gap="sm">
        <Button variant="default" size="xs" onClick={take}>
          Take what was saved
        </Button>
        <Button variant="default" size="xs" type="submit" onClick={keep}>
          Save what I typed
        </Button>
      </Group>
    </Stack>
  )
}
