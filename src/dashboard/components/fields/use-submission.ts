import type { UseFormReturnType } from '@mantine/form'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError } from '@/dashboard/client'
import { useUnsaved } from '@/dashboard/leave-guard'
import { withSession } from '@/dashboard/session'

export type Submission = {
  submit(event: React.FormEvent<HTMLFormElement>): void
  isRunning: boolean
  error: ApiError | Error | undefined
}

/** Validates and submits a form, one request at a time. An error about a field is shown at the field, which gets the focus. */
export function useSubmission<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  run: (values: Values) => Promise<unknown>,
): Submission {
  const [isRunning, setRunning] = useState(false)
  const isSending = useRef(false)
  const [error, setError] = useState<Error>()
  const sender = useRef<Element | null>(null)

  useEffect(() => {
    // The button is disabled during the request, so the browser removes the focus from it.
    if (error && !isRunning && sender.current instanceof HTMLElement) sender.current.focus()
  }, [error, isRunning])

  const saved = useRef<Values>(undefined)
  const { isDirty, getValues } = form
  useUnsaved(useCallback(() => isDirty() && !isSending.current && getValues() !== saved.current, [isDirty, getValues]))

  function focus(field: string): void {
    form.getInputNode(field)?.focus()
  }

  async function send(values: Values): Promise<void> {
    // A second press may come before the button is rendered as disabled.
    if (isSending.current) return
    isSending.current = true
    sender.current = document.activeElement
    setRunning(true)
    setError(undefined)
    try {
      await withSession(() => run(values))
      saved.current = form.getValues()
    } catch (thrown) {
      const refusal = thrown instanceof Error ? thrown : new Error(String(thrown))
      const field = refusal instanceof ApiError ? refusal.param : undefined
      if (field !== undefined && field in values) {
        form.setFieldError(field, refusal.message)
        focus(field)
      } else setError(refusal)
    } finally {
      isSending.current = false
      setRunning(false)
    }
  }

  return {
    submit: form.onSubmit(send, (errors) => focus(Object.keys(errors)[0] ?? '')),
    isRunning,
    error,
  }
}
