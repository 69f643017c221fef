/** The sign-in page: address and password, then a code if an authenticator app is set up. */

import { useState } from 'react'
import { Redirect } from 'wouter'
import { useViewer } from '@/dashboard/session'
import { useArrival, useNext } from './arrival'
import { TextLink } from './links'
import { PublicFrame } from './public-frame'
import { useSignInOptions } from './rules'
import { CodeForm, PasswordForm } from './sign-in-steps'

export function SignInPage() {
  const [step, setStep] = useState<'password' | 'code'>('password')
  const viewer = useViewer()
  const options = useSignInOptions()
  const next = useNext()
  const arrive = useArrival()
  if (viewer.data) return <Redirect to={next} replace />
  if (step === 'code') {
    return (
      <PublicFrame title="Enter your code" description="Signing in to this account takes a second step.">
        <CodeForm onSignedIn={arrive} onStartAgain={() => setStep('password')} />
      </PublicFrame>
    )
  }
  return (
    <PublicFrame
      title="Sign in"
      description="Your API keys, usage and credit."
      footer={
        options.data?.signUp === 'open' && (
          <>
            New here?{' '}
            <TextLink href={`/sign-up${next === '/' ? '' : `?next=${encodeURIComponent(next)}`}`}>
              Create an account
            </TextLink>
          </>
        )
      }
    >
      <PasswordForm onSignedIn={arrive} onCodeRequired={() => setStep('code')} />
    </PublicFrame>
  )
}
