/** The dialog that asks for the password again, and for the second step where there is one, before something that decides how people sign in. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormError } from '@/dashboard/components/fields/form-error'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'

type PasswordPromptProps = {
  explanation: string
  /** The verb on the button. */
  action: string
  isDestructive?: boolean
  /** Whether a code of the app, or a backup code, is asked for as well. */
  asksForCode?: boolean
  run(password: string, code: string): Promise<void>
}

export function PasswordPrompt({
  explanation,
  action,
  isDestructive = false,
  asksForCode = false,
  run,
}: PasswordPromptProps) {
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: {
      password: (password) => (password === '' ? 'Enter your password.' : null),
      code: (code) => (asksForCode && code.trim() === '' ? 'Enter a code.' : null),
    },
  })
  const { submit, isRunning, error } = useSubmission(form, ({ password, code }) => run(password, code.trim()))
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm">{explanation}</Text>
        <FormError error={error} />
        <PasswordField purpose="current" label="Your password" data-autofocus {...form.getInputProps('password')} />
        {asksForCode && (
          <TextInput
            label="Code of your authenticator app, or a backup code"
            autoComplete="one-time-code"
            {...form.getInputProps('code')}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" color={isDestructive ? 'red.8' : undefined} loading={isRunning}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
