import type { Registry } from 'prom-client'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { CredentialStatus } from '@/dialects/credentials/authorizer'
import { expose, labelled } from './series'

/** Metrics of provider credentials: their expiry, and the results of fetching them. Call it once per registry. */
export function exposeCredentials(registry: Registry, catalog: CatalogSource): void {
  function statuses(): [provider: string, CredentialStatus][] {
    return [...catalog.current.providers.values()].flatMap(({ name, dialect }) =>
      dialect.authorizer ? [[name, dialect.authorizer.status()] as [string, CredentialStatus]] : [],
    )
  }

  expose(
    registry,
    labelled(
      'svc_provider_credential_expires_timestamp_seconds',
      'Until when the credential is valid that calls to a provider show; 0 while there is none.',
      'provider',
      () => statuses().map(([provider, { expiresAtMs = 0 }]) => [provider, expiresAtMs / 1000]),
    ),
    {
      name: 'svc_provider_credentials_total',
      help: 'How often the credential of a provider was asked for, by outcome. Providers that share one have the same numbers.',
      *samples() {
        for (const [provider, status] of statuses())
          for (const outcome of ['obtained', 'failed'] as const) yield [{ provider, outcome }, status[outcome]]
      },
    },
  )
}
