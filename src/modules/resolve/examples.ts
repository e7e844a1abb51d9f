/** The resolve of the contract's examples. */
export const EXAMPLE_RESOLVE_ID = 'rs_k3J9sQ2mXv7Lr0TzWb5Nd8Ha';

const PAGE = 'https://www.example.org/news/first-light';

export const EXAMPLE_SHOWN = {
  id: EXAMPLE_RESOLVE_ID,
  status: 'resolved' as const,
  created_at: '2026-11-20T12:00:01.250Z',
  expires_at: '2026-11-20T13:00:01.250Z',
  result_url: `https://api.example.com/resolve/v1/resolves/${EXAMPLE_RESOLVE_ID}`,
  result: {
    requested_url: 'http://example.org/news/first-light',
    final_url: PAGE,
    redirects: [{ url: 'http://example.org/news/first-light', status_code: 301 }],
    status_code: 200,
    content_type: 'text/html; charset=utf-8',
    size_bytes: 18_234,
    content_sha256: 'c2f7a1d09b3e4856a7f0d1e2c3b4a5968778695a4b3c2d1e0f9e8d7c6b5a4f30',
    fetched_at: '2026-11-20T12:00:01.087Z',
    truncated: false,
    metadata: {
      title: 'First light',
      description: 'The telescope has seen its first star.',
      canonical_url: PAGE,
      site_name: 'Example News',
      language: 'en',
      image_url: null,
      published_at: '2026-11-19',
    },
    text: null,
    links: null,
    warnings: [],
  },
  failure: null,
};

const { result, failure, ...members } = EXAMPLE_SHOWN;
export const EXAMPLE_CREATED = {
  ...members,
  read_token: `svc_rs_sk_${'Example'.repeat(7).slice(0, 43)}`,
  result,
  failure,
};

export const EXAMPLE_PENDING = { ...EXAMPLE_CREATED, status: 'pending', result: null };
