/** The public address of a server behind a proxy (decisions §2, BASE_URL). */
import { describe, expect, it } from 'vitest';
import { expectOffer, expectPaid } from '../support/answers.ts';
import { openJobsApp } from '../support/jobs-app.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { paymentFor, wallet } from '../support/wallet.ts';

describe(`addresses, under ${RUNTIME}`, () => {
  it('BASE_URL with a path prefix is the one in every offer, whatever Host says', async () => {
    const jobs = await openJobsApp({
      BASE_URL: 'https://shop.example/x402/',
      LOCAL_BALANCE: '50000',
    });
    const offer = expectOffer(await jobs.get('/v1/jobs/search?limit=3'));
    expect(offer.resource.url).toBe('https://shop.example/x402/v1/jobs/search?limit=3');
    const account = wallet();
    expectPaid(await jobs.pay('/v1/jobs/search?limit=3', await paymentFor(offer, account)), account.address);
    await jobs.close();
  });
});
