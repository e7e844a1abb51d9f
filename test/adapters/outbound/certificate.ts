/** A certificate for one name that signs itself, made when it is needed, so that no private key lies in the repository. */
import { generateKeyPairSync, sign } from 'node:crypto';

/** Tag, length and content (ITU-T X.690, section 8.1), for contents below 64 KiB. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengthBytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value));

const ECDSA_WITH_SHA256 = hex('300a06082a8648ce3d040302');
const COMMON_NAME = hex('0603550403');
const SUBJECT_ALT_NAME = hex('0603551d11');
const BASIC_CONSTRAINTS = hex('0603551d13');
const TRUE = hex('0101ff');

/** RFC 5280, section 4.1: an authority for itself; PEM. */
export function selfSigned(name: string): { readonly key: string; readonly certificate: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(der(0x31, sequence(COMMON_NAME, text(0x0c, name))));
  const validity = sequence(text(0x17, '200101000000Z'), text(0x18, '21260101000000Z'));
  const extensions = sequence(
    sequence(SUBJECT_ALT_NAME, der(0x04, sequence(text(0x82, name)))),
    sequence(BASIC_CONSTRAINTS, TRUE, der(0x04, sequence(TRUE))),
  );
  const signed = sequence(
    der(0xa0, hex('020102')), // version 3
    hex('020101'), // serial number
    ECDSA_WITH_SHA256,
    subject,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey));
  const whole = sequence(signed, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = whole.replace(/.{64}/g, '$&\n');
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
