#pragma clang diagnostic pop
#if CK_LEVEL > 0
#pragma clang attribute pop
#endif
