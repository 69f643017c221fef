/** Shared by sign-in forms: frame, address field, and the message for an invalid link. */
import { Alert, Button, Stack, Text, TextInput, type TextInputProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { PlainForm } from '@/dashboard/components/fields/plain-form'
import type { Submission } from '@/dashboard/components/fields/use-submission'

type SignInFormProps = { submission: Submission; action: string; remedy?: ReactNode; children: ReactNode }

/** A form whose button is as wide as the card. */
export function SignInForm(props: SignInFormProps) {
  return <PlainForm button={{ fullWidth: true }} {...props} />
}

/** The field for the sign-in address. */
export function EmailField(props: TextInputProps) {
  return (
    <TextInput
      label="E-mail address"
      type="email"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  )
}

/** Says how long links are valid, and links to the page that sends new ones. */
export function BrokenLink({ children, href, action }: { children: ReactNode; href: string; action: string }) {
  return (
    <Alert color="red" title="This link is no longer valid" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{children}</Text>
        <Button component={Link} href={href} size="xs" variant="default">
          {action}
        </Button>
      </Stack>
    </Alert>
  )
}
