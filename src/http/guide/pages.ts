/** The Markdown of every page of the guide, in the order of the menu. Loaded when a page is first asked for. */
import caching from '#guide/caching.md' with { type: 'text' }
import comingFrom from '#guide/coming-from.md' with { type: 'text' }
import deploy from '#guide/deploy.md' with { type: 'text' }
import embeddings from '#guide/embeddings.md' with { type: 'text' }
import errors from '#guide/errors.md' with { type: 'text' }
import fallback from '#guide/fallback.md' with { type: 'text' }
import idempotent from '#guide/idempotent-requests.md' with { type: 'text' }
import images from '#guide/images-and-files.md' with { type: 'text' }
import index from '#guide/index.md' with { type: 'text' }
import limits from '#guide/limits-and-headers.md' with { type: 'text' }
import responses from '#guide/responses.md' with { type: 'text' }
import streaming from '#guide/streaming.md' with { type: 'text' }
import structured from '#guide/structured-output.md' with { type: 'text' }
import tiers from '#guide/tiers.md' with { type: 'text' }
import tools from '#guide/tools.md' with { type: 'text' }

type GuideGroup = { label: string; pages: Readonly<Record<string, string>> }

/** Pages by the names of their files, without `.md`. */
export const GROUPS: readonly GuideGroup[] = [
  { label: 'Start', pages: { index, 'coming-from': comingFrom } },
  {
    label: 'Guides',
    pages: {
      streaming,
      tools,
      'images-and-files': images,
      caching,
      'structured-output': structured,
      fallback,
      tiers,
      responses,
      embeddings,
      'idempotent-requests': idempotent,
    },
  },
  { label: 'Reference', pages: { errors, 'limits-and-headers': limits } },
  { label: 'For operators', pages: { deploy } },
]
