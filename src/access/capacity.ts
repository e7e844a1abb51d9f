/**
 * Room for a callback, claimed before its creation is paid for (decisions §5; reliability 126, 127): a full server answers
 * 503 and issues no offer. The claim goes to the callback that the settled answer makes, or back.
 */
import { chain } from '../base/maybe-promise.ts';
import type { CallbackCapacity } from '../callback/callbacks.ts';
import type { Gate, Pass } from '../http/access.ts';
import { refuse } from '../http/errors.ts';

/** Callbacks end all the time; a full server is worth asking again this soon. */
const RETRY_AFTER_SECONDS = '30';

const NO_HEADERS = Object.freeze({});

export function capacityGate(capacity: CallbackCapacity): Gate {
  const pass: Pass = {
    settle: async () => NO_HEADERS,
    release: () => void capacity.release(),
  };
  return {
    admit() {
      return chain(capacity.tryClaim(), (isClaimed) => {
        if (isClaimed) return pass;
        return refuse('CALLBACK_CAPACITY_EXCEEDED', 'this server holds as many callbacks as it has room for', {
          headers: { 'retry-after': RETRY_AFTER_SECONDS },
        });
      });
    },
  };
}
