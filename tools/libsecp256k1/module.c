/*
 * libsecp256k1 as a WebAssembly module that does one thing: recover a public key (secp256k1_ecdsa_recover, module "recovery").
 * build.ts compiles it together with the library, as one unit. The caller writes its input into the module's memory at the
 * exported addresses and reads the key there. There is one of each, so a call must end before the next begins.
 */
#define ENABLE_MODULE_RECOVERY 1
#include "src/secp256k1.c"
#include "src/precomputed_ecmult.c"
#include "src/precomputed_ecmult_gen.c"

unsigned char digest_input[32];
unsigned char signature_input[64];
unsigned char public_key_output[65];

/* 1 and the uncompressed key, or 0 where the signature has r or s out of range, or no key made it. */
__attribute__((export_name("recover"))) int recover(int recovery) {
  secp256k1_ecdsa_recoverable_signature signature;
  secp256k1_pubkey key;
  size_t length = sizeof(public_key_output);
  const secp256k1_context *context = secp256k1_context_static;
  return secp256k1_ecdsa_recoverable_signature_parse_compact(context, &signature, signature_input, recovery) &&
         secp256k1_ecdsa_recover(context, &key, &signature, digest_input) &&
         secp256k1_ec_pubkey_serialize(context, public_key_output, &length, &key, SECP256K1_EC_UNCOMPRESSED);
}

/* A call that breaks the library's contract, or a fault of its own, ends in a trap, after which the caller trusts it no more. */
void secp256k1_default_illegal_callback_fn(const char *message, void *data) {
  (void)message, (void)data;
  __builtin_trap();
}

void secp256k1_default_error_callback_fn(const char *message, void *data) {
  (void)message, (void)data;
  __builtin_trap();
}

/* What the library takes from C's own: compilers turn memcpy and memset into instructions of WebAssembly. */
int memcmp(const void *left, const void *right, size_t length) {
  const unsigned char *a = left, *b = right;
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i]) return a[i] - b[i];
  return 0;
}
