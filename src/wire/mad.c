/* What depends on the management class of a MAD: whether it may use RMPP, where its data begins and
 * what its attribute IDs mean; and the header of an SA request. */
#include "wire/mad.h"

#include <string.h>

bool mad_class_has_rmpp(unsigned class)
{
    return class == CLASS_SUBN_ADM || class == CLASS_DEVICE || class == CLASS_DEVICE_ADM ||
           class == CLASS_BIS ||
           (class >= CLASS_VENDOR_RMPP_FIRST && class <= CLASS_VENDOR_RMPP_LAST);
}

unsigned mad_data_offset(unsigned class)
{
    switch (class) {
    case CLASS_SUBN_LID:
    case CLASS_SUBN_DIRECTED: return SMP_DATA_OFFSET;
    case CLASS_SUBN_ADM: return SA_DATA_OFFSET;
    case CLASS_PERFORMANCE:
    case CLASS_BOARD:
    case CLASS_DEVICE:
    case CLASS_DEVICE_ADM:
    case CLASS_BIS: return GMP_DATA_OFFSET;
    default:
        if (class >= CLASS_VENDOR_RMPP_FIRST && class <= CLASS_VENDOR_RMPP_LAST)
            return WIRE_BYTES_VENDOR;
        return MAD_HEADER_BYTES;
    }
}

enum wire_attribute mad_attribute_find(unsigned class, unsigned id)
{
    switch (class) {
    case CLASS_SUBN_LID:
    case CLASS_SUBN_DIRECTED: return wire_attribute_find(WIRE_CLASS_SMP, id);
    case CLASS_SUBN_ADM: return wire_attribute_find(WIRE_CLASS_SA, id);
    case CLASS_PERFORMANCE: return wire_attribute_find(WIRE_CLASS_PERFORMANCE, id);
    case CLASS_DEVICE: return wire_attribute_find(WIRE_CLASS_DEVICE, id);
    case CLASS_CM: return wire_attribute_find(WIRE_CLASS_CM, id);
    default: return wire_attribute_find(WIRE_CLASS_COMMON, id);
    }
}

void sa_request_begin(uint8_t mad[MAD_BYTES], unsigned method, unsigned attribute)
{
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
}
