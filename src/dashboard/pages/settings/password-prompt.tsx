/** The dialog that asks for the password again before something that decides how people sign in. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormError } from '@/dashboard/components/fields/form-error'
import { PasswordField } from '@/dashboard/components/fields/password-field'
import { useSubmission } from '@/dashboard/components/fields/use-submission'

type PasswordPromptProps = {
  explanation: string
  /** The verb on the button. */
  action: string
  isDestructive?: boolean
  run(password: string): Promise<void>
}

export function PasswordPrompt({ explanation, action, isDestructive = false, run }: PasswordPromptProps) {
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (password) => (password === '' ? 'Enter your password.' : null) },
  })
  const { submit, isRunning, error } = useSubmission(form, ({ password }) => run(password))
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm">{explanation}</Text>
        <FormError error={error} />
        <PasswordField purpose="current" label="Your password" data-autofocus {...form.getInputProps('password')} />
        <Group justify="flex-end">
          <Button type="submit" color={isDestructive ? 'red.8' : undefined} loading={isRunning}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
