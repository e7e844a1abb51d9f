/** Reports every answered request and every bug. A listener that throws does not affect the answer, which may be paid for. */
import { OutageError } from '../base/outage.ts';
import { withoutSecrets } from '../base/without-secrets.ts';
import type { Refusal } from '../http/errors.ts';
import type { MadeResponse } from '../http/response-form.ts';
import type { LoggedRequest } from './request.ts';
import type { RequestRecord } from './request-record.ts';

export interface RequestLogPorts {
  /** Called once a request; undefined = no log. */
  readonly onRequest: ((record: RequestRecord) => void) | undefined;
  /** Whether `onRequest` wants the requests with a status; all when not given. Other records are not even built. */
  readonly wantsRequest?: ((status: number) => boolean) | undefined;
  /**
   * Called with a bug. @param source id of the request, whose client sees `INTERNAL_ERROR` and the id, or the part that
   * failed in the background, where no request waits
   */
  onFailure(failure: unknown, source: string): void;
}

function notifySafely(listener: () => void): void {
  try {
    listener();
  } catch {
    // No other listener is left to report this to.
  }
}

export class RequestLog {
  readonly #ports: RequestLogPorts;

  constructor(ports: RequestLogPorts) {
    this.#ports = ports;
  }

  /** Whether there is a listener for requests. */
  get hasListener(): boolean {
    return this.#ports.onRequest !== undefined;
  }

  answered(
    request: LoggedRequest,
    { surface, operation }: { readonly surface: string | null; readonly operation: string | null },
    { status }: MadeResponse,
    durationMs: number,
    refusal: Refusal | undefined,
  ): void {
    const { onRequest, wantsRequest } = this.#ports;
    if (onRequest === undefined || wantsRequest?.(status) === false) return;
    notifySafely(() =>
      onRequest({
        requestId: request.requestId,
        method: request.method,
        path: withoutSecrets(request.path),
        surface,
        operation,
        status,
        durationMs,
        client: request.clientAddress(),
        code: refusal?.code ?? null,
        detail: refusal?.extras.detail ?? null,
      }),
    );
  }

  /**
   * An outage is not a bug and is not reported here: the state logs its begin and end, and each affected request's line names it.
   * @param source id of the request, or the part of the server that failed
   */
  failed(failure: unknown, source: string): void {
    if (failure instanceof OutageError) return;
    notifySafely(() => this.#ports.onFailure(failure, source));
  }
}
